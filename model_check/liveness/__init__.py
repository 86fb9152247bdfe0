"""Responses, which must come in the end: fair cycles in the graph of all states, and the lassos that they end in.

networkx is the second engine here: it shares nothing but the graph.
"""
