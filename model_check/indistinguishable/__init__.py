"""Two worlds that a broker cannot tell apart: why no repair of the broker can keep a clause (docs/impossibility.md)."""
