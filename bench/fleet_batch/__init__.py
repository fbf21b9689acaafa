"""How long `analyzer batch` takes on a history of many runs, new, unchanged and after a kill."""
