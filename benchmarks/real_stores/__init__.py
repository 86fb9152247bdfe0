"""Fresh stores of real brokers, each held against the specification of its version."""
