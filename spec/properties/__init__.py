"""The guarantees, by their ids in the catalogue. Each clause is a function of its own, so that each gets its own verdict."""
