"""Recomputes a recorded training batch, to say whether its log is right."""
