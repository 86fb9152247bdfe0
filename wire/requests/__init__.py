"""Handlers of each kind of request, after RocketMQ's processors."""
