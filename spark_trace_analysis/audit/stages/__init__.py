"""The tasks of an audit on Spark, and the driver's work between them."""
