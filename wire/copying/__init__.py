"""A partial copy of a running broker's store, read over the network: the topics of transactions, as of one moment.

`broker_moment.py` reads the queues up to one place of the log, from their beginning or from where a reading ended
before; `copy_writer.py` puts each message where the broker's log has it, `moment.py` writes what is told beside. What
comes of it is read as any other store is (`reference/format/partial_copy.py`).
"""
