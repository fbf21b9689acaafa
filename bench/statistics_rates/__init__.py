"""How often the statistical conditions are wrong, and what they find, by simulation.

`make bench-statistics` writes bench/results/statistics.json and the tables of docs/statistics.md.
"""
