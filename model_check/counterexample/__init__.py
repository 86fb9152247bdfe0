"""A verdict explains itself: the steps of a counterexample with what changed, a diagram, files that others read."""
