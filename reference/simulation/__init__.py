"""Time that only moves when it is told to, and who runs next."""
