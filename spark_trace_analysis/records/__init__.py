"""Records of a store and their parts in transactions, read by machine code: shared by reading and auditing stores.

``record_kernels.py`` cuts frames out of the commit log, ``property_kernels.py`` reads a record's properties,
``version.py`` infers which release wrote a store.
"""
