"""What a record of a store is to a transaction, read by machine code: what reading and auditing stores share.

``record_kernels.py`` cuts frames out of the commit log, ``property_kernels.py`` reads a record's properties,
``version.py`` infers which release wrote a store.
"""
