"""A verdict explains itself: the steps of a counterexample with what changed, a diagram, and files that others read."""
