"""What a broker on the wire takes: transactions a second over many connections, and whether it grows."""
