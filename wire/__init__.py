"""RocketMQ's remoting protocol, and the reference broker behind it: what real clients connect to."""
