"""What ``halfcheck probe`` does: options, schedules, sessions, judgement; drawn schedules and their shrinking."""
