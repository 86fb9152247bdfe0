"""RocketMQ's gRPC proxy in local mode before the same broker: what clients of ``apache.rocketmq.v2`` connect to.

`port.py` listens and hands each call to its handler; `activities/` has the handlers, a file each as the proxy's classes
have them; `protocol/` has the messages. What the proxy keeps between calls is `transaction_data.py`, `clients.py` and
`client_settings.py`; `limits.py` has the numbers of ``ProxyConfig``. Behind it, `wire/pop/` is the broker's own part.
"""
