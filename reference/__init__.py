"""A broker, its store and its producer, written from RocketMQ's formats and behaviour alone.

Its folders are built on each other, from the top down: `scenarios`, `cluster`, `client`, `broker` with `processor` and
`transaction`, `store`, `format` (a store's bytes, for whoever reads one), `versions`, `simulation` and `java`.
"""
