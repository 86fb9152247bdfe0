"""What many traces look like in numbers: distributions, action pairs, states, intervals."""
