"""What trainers write of their batches anyway, read as far as a replay can use it."""
