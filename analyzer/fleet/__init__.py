"""Many runs: found below a folder, judged by worker processes, kept as rows and tables."""
