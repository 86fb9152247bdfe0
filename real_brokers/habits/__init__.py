"""What each client breaks by itself, seen before a broker of this project: `make client-habits`."""
