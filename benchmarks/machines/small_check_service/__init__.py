"""A half queue, an op queue and a check service, cut down to the least that still has rounds, put-backs and op batches.

It is the specification's small sister, kept as a yardstick of speed: the machine is fixed, so that its numbers stay
comparable. Ages are counted, there is no clock. Every step of the check service is one step of the loop over the half
queue. With the default constants it has 5,433,666 distinct states, 23,033,558 generated ones (the initial state is
included in both), and the deepest state is 36 steps away; Stateright agrees (`benchmarks/explicit`).
"""
