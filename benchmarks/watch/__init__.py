"""Whether a watch beside a broker at work grows, and how soon it reports (RESULTS.md)."""
