"""The slow, obvious search: the judge of the fast ones."""
