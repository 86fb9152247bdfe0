"""How long a sweep of 60 points takes on two cores, and whether one whose driver and worker die ends the same."""
