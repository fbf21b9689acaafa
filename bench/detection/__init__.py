"""How good the diagnosis is: runs of the lab with known faults, judged and counted.

`make bench-detection` writes bench/results/detection.json, the tables of docs/detection.md and the
picture beside them.
"""
