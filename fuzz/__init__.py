"""Hypothesis drives the specification and the reference broker in lockstep; mutants measure what that finds."""
