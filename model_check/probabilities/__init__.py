"""Probabilities that clauses are violated: the specification in a small world as a Markov chain, solved.

`weights.py` gives each action a weight, `chain.py` makes the chain of all states, `solve.py` its probabilities with a
bound of their error, `drn.py` a file of it for other tools. Where there are too many states, `sampled.py` asks walks.
"""
