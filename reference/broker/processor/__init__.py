"""The handlers of each kind of request (``broker.processor``)."""
