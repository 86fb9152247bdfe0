"""The broker: what its process is made of, and what it keeps beside its messages (``broker``)."""
