"""The output of commands: a file for each of the longer ones, and what several share: tables, remarks, live lines."""
