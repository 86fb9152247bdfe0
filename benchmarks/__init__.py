"""What commands, engines, brokers and tests cost: a folder a measurement, whose ``__main__.py`` writes its page."""
