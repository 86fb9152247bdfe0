"""The audit of a RocketMQ store: each record classified, grouped by transaction, and each history folded to a state."""
