"""The messages and calls of ``apache.rocketmq.v2``, as apache/rocketmq-apis v2.1.2 declares them.

`service.binpb` is made of the ``.proto`` files by ``make protocol``, and read when a gRPC port is asked for.
"""
