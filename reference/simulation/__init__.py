"""Virtual time and deterministic scheduling."""
