"""The simulation: events in virtual milliseconds, the reference broker in their midst, and what is counted of them.

`simulate.py` is the whole, a pure function of broker, workload, seed and number of transactions; `replications.py` runs
it with many seeds. `event_queue.py` is time, `random_streams.py` chance, `running.py` what all parts share.
`broker_host.py` is the broker's process, `check_thread.py`, `op_batch_thread.py` and `storage_threads.py` its threads,
`requests.py` what it does for clients; `producers.py` are these, `consumer.py` is the other end. `ledger.py` knows each
transaction that is under way, `causes.py` why something befell it; `counts.py` is what is left of a run.
"""
