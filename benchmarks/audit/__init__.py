"""How fast a large store is audited, and with how much memory."""
