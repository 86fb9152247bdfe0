"""The guarantees, by their ids in the catalogue. Each clause is a function, so that each gets its own verdict."""
