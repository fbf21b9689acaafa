"""Whether the log is right, and what caused what it says: one small file a kind of question."""
