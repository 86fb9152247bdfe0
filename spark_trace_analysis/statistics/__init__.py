"""Statistics of many traces: distributions, action pairs, states, intervals."""
