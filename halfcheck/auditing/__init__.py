"""The ways of ``halfcheck audit`` besides that of a store: running brokers, plans and watches, with the options of all.

`options.py` are the options, `places.py` looks at where answers are to go; `brokers.py` audits brokers over the
network, `plans.py` plans for one of them and sends, `watches.py` watches.
"""
