"""Whether a watch beside a broker at work grows, and how soon it tells (RESULTS.md)."""
