"""The tasks of an audit on Spark, and what the driver does between them."""
