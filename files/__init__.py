"""Files as they are: the one door for whatever is read, and folders that are to be gone behind a command."""
