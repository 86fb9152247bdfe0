"""The store of one broker: commit log and consume queues in mapped files, on a disk that is given (``store``)."""
