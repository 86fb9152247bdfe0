"""Brokers and clients that nobody here wrote: built or fetched, started, led through scenarios, probed and compared."""
