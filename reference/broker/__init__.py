"""The broker: the parts of its process, and its tables beside the messages (``broker``)."""
