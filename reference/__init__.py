"""A broker, its store and its producer, written from RocketMQ's formats and behaviour alone."""
