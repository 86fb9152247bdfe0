"""The tasks of an audit in stages, who runs them, and the work between the stages."""
