"""What goes on beside a broker of the command line: the command that it serves, signals, and the end of its parent."""
