"""What searches of the specification have found, as data: verdicts, schedules, implications, what stays uncovered."""
