"""A raw client of the remoting protocol: what a probe asks of a broker, and nothing that changes others' state."""
