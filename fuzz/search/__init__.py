"""The search of the fuzzer: its choice of steps, and their coverage."""
