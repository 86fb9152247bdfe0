"""Whether the specification explains a store, a recorded trace, or some traces of a run."""
