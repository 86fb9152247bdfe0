"""The lockstep with RocketMQ's own classes: steps a second."""
