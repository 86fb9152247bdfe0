"""The store of one broker: commit log and consume queues in mapped files, on a disk that is given (``store``).

A disk is a directory, or memory that can be full, tear, stop between any two writes or lose its power.
"""
