"""The specification as a TLA+ module and a configuration that TLC runs as they are."""
