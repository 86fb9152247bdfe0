"""How fast traces are simulated, judged and counted on Spark, by phase."""
