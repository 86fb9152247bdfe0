"""What differs by release below the state machine's level: RocketMQ's defaults."""
