"""Holds the trace of a real broker against the specification: some path of steps leaves just its records, or none."""
