"""Findings of the searches of the specification, as data: verdicts, schedules, implications, what stays uncovered."""
