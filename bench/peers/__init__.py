"""Other tools for the same question on the same runs: found, missed, false alarms.

`make bench-peers` writes bench/results/peers.json and its tables in docs/detection.md.
"""
