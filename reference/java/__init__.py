"""What Java itself decides: the order of a map, what a text means as a number."""
