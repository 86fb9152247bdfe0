"""RocketMQ's remoting protocol, and the reference broker behind it, to which real clients connect.

``service.py`` is the whole: a broker and its name server on one port. A request goes through ``connections.py``,
``remoting/`` (its bytes) and ``requests/handlers.py`` (the table of what is done for which kind) to the broker in
``node/``. ``control/`` takes a test's orders; ``client/`` and ``probe/`` are the other side: they play schedules on any
broker.
"""
