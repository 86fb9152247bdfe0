"""RocketMQ's remoting protocol, and the reference broker behind it, to which real clients connect."""
