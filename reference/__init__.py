"""A broker, its store and its producer, written from RocketMQ's formats and behaviour alone.

Folders and classes have RocketMQ's names. They are built on each other, from the top down: ``scenarios``
(walk-throughs), ``cluster`` (threads and consumers around a broker), ``client``, ``broker`` with ``processor`` and
``transaction``, ``store``, ``format`` (a store's bytes, for whoever reads one), ``versions`` (what differs by release),
``simulation`` (clock and scheduler) and ``java`` (arithmetic and hash maps as Java has them); ``proxy`` stands beside
them. Of ``spec/`` it knows the events of a trace and RocketMQ's defaults, no rule.
"""
