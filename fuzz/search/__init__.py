"""Which schedules are tried, and what they have covered."""
