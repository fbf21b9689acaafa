"""Stage 1 of a replay: log-probs recomputed from a checkpoint. The entry is `stage1.recompute`."""
