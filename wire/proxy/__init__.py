"""RocketMQ's gRPC proxy before the same broker: what clients of ``apache.rocketmq.v2`` connect to.

`port.py` listens and hands each call to its handler; `activities/` has the handlers, a file each as the proxy's classes
have them; `protocol/` has the messages. What the proxy keeps between calls is `proxy.py`, `client_settings.py` and
`reference/proxy/`; `limits.py` has the numbers of ``ProxyConfig``. What local and cluster mode do otherwise is
`mode.py`. Behind it, `wire/pop/` is the broker's own part.
"""
