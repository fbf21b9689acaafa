"""Reads the logs of a reinforcement-learning run and says what went wrong."""

__version__ = "0.1.0"
