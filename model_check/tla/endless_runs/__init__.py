"""Machines that forget, and what must happen in the end, as TLA+."""
