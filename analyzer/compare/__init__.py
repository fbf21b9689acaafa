"""This run against others: differences with their intervals, and what was set differently."""
