"""The specification of RocketMQ's transactional messages: an executable state machine in plain Python."""
