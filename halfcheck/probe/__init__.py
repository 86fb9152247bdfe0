"""The schedules, sessions and judgements of ``halfcheck probe``; drawn schedules and their shrinking."""
