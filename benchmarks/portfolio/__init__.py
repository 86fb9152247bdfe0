"""What holds in the portfolio of a profile that nobody has released, held against larger instances."""
