"""This run beside others."""
