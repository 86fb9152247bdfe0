"""Traces as files: their schema, the runs that they are of, where their events come from, and how they are read."""
