"""The specification and the reference broker side by side, and what is compared.

``pairing.py`` takes a step on both sides, ``refinement_mapping.py`` computes the specification's state from the
broker's records and memory, ``forbidden.py`` asks the broker for steps that the specification refuses.
"""
