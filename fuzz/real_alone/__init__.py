"""RocketMQ's own classes alone, in two builds: the same schedules are played on both, and what each does is judged.

Nobody predicts an answer here. `lone_broker.py` is a store of one build with its producers and network,
`staging.py` says what each action is to them, `seen.py` what producers, consumers and the log see, `guarantees.py`
what of that breaks a property. `schedules.py` and `neighbours.py` make the schedules, `builds.py` has the JVMs.
`claims.py` asks what has become of the clauses that the release breaks, `hunt.py` what is broken anew, and
`verdict.py` puts both together.
"""
