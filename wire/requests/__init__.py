"""What the broker does for each kind of request, by the processors of RocketMQ that it follows."""
