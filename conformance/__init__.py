"""Drivers and golden vectors of the real broker, and the comparison of both sides' stores."""
