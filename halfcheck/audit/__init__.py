"""What ``halfcheck audit`` does: options, places for answers, one process or Spark, exit code."""
