"""The handler of each call, a file for each class of the proxy that handles some (``DefaultGrpcMessagingActivity``).

A handler takes the proxy, the caller and the request, and gives the answer, or raises
:class:`wire.proxy.refusal.ProxyRefusal`.
"""
