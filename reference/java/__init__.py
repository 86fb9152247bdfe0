"""Behaviour of Java itself: the order of a map, the number that a text means."""
