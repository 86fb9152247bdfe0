"""RocketMQ's gRPC proxy before the same broker: what clients of ``apache.rocketmq.v2`` connect to.

`port.py` listens; `http2/` has the connections and their streams, `server_call.py` a call of gRPC over one, and
`handlers.py` what becomes of it; `activities/` has what is done for each call, a file each as the proxy's classes have
them; `protocol/` has the messages. What the proxy keeps between calls is `proxy.py`, `client_settings.py` and
`reference/proxy/`; `limits.py` has the numbers of ``ProxyConfig``. What local and cluster mode do otherwise is
`mode.py`. Behind it, `wire/pop/` is the broker's own part.

The port speaks HTTP/2 itself; why: docs/decisions/0011-http2-of-the-grpc-port.md.
"""
