"""The memory of a search: its states in memory and in files, and the hash table of all of them."""
