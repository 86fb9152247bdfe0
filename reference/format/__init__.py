"""RocketMQ's files, byte for byte: commit log, consume queues, consumer offsets and ``broker.conf``."""
