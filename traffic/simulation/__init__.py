"""The simulation: events in virtual milliseconds, the reference broker in their midst, and what is counted of them.

`simulate.py` is the whole, a pure function of broker, workload, seed and number of transactions. `event_queue.py` is
time; `broker_host.py` is the broker's process with its threads, crashes and pauses, `producers.py` the clients and their
local transactions, `consumer.py` the other end. `ledger.py` knows each transaction that is under way and `causes.py`
why something befell it; `counts.py` is what is left of a run.
"""
