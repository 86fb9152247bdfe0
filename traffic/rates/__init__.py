"""Rates: the counts of independent replications as shares, means and quantiles with 95 % intervals, and by cause."""
