"""The jars of RocketMQ's releases: which there are, brought by Maven and held by their SHA-256."""
