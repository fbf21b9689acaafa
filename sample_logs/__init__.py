"""Labelled sample runs, and what makes them."""
