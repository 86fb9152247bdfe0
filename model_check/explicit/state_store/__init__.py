"""The states that a search has found: in memory and in files, and the hash table of all of them."""
