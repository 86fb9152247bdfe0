"""Which steps are tried, and what they have covered."""
