"""Spark: its session, the Java that it needs, and what workers get of this project."""
