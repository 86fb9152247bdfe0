"""How many transactions a minute the simulation of traffic takes, beside the broker alone, and whether it grows."""
