"""What a store's records say of a transaction: state, consistency, damage, advice, and which defect it resembles."""
