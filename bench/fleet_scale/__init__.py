"""How the questions over many runs grow with the number of runs."""
