"""Half, op and check: the two transaction services and what they use (``broker.transaction``)."""
