"""What RocketMQ's proxy knows of transactions, between producers and a broker; ``wire.proxy`` is the proxy itself."""
