"""The broker's side of the lockstep: a broker, its disk and clock, producers, network and another master."""
