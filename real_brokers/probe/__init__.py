"""Real brokers, started from their packages: probed, and shown the counterexamples of the table of verdicts."""
