"""How RocketMQ's versions differ."""
