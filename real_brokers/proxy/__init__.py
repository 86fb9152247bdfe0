"""RocketMQ's own proxy 5.5.0 before a broker, its gRPC clients, and what is seen there of the defects that it has."""
