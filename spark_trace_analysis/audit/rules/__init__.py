"""Rules for one transaction by its records: state, consistency, damage, advice, and which defect it resembles."""
