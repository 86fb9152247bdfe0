"""Traffic: how often things go wrong, by simulating a broker's days with its producers, network, crashes and consumer.

`workload/` is what a user says of the traffic, with the defaults that have a source; `simulation/` drives the reference
broker's own code in virtual milliseconds by it, and counts; `rates/` makes shares and times with their intervals of the
counts of independent replications, and splits them by cause; `fit/` makes a workload of what a store shows.
"""
