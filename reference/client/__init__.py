"""The Java client, as far as it decides what becomes of a transaction (``client``)."""
