"""The same of many records at once, as columns; and the files that hold them."""
