"""Spark: its session, the Java that it needs, and the parts of this project that workers get."""
