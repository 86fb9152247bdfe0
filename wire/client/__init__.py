"""A raw client of the remoting protocol, with TLS and credentials: the requests of a probe, and a reader of queues.

Both leave the state of others alone.
"""
