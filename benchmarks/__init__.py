"""Fixed workloads of the command line, and what they cost."""
