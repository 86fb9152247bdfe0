"""The command line of each command: its options, its help, and what it calls."""
