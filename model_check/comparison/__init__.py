"""Two releases or profiles side by side, and what going from one to the other means."""
