"""A broker that nobody here wrote, in another language: rocketmq-rust, built, started, probed, and held to RocketMQ."""
