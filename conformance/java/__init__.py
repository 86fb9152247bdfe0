"""RocketMQ's own classes of a release, unmodified, in virtual time: what stands beside the reference broker.

The sources in ``src/`` are an agent, which rewrites the classes as they are loaded, and a harness, which carries out
orders. ``harness.py`` compiles them for a release, ``real_classes.py`` gives the orders and compares the answers;
``given_jar.py`` has classes that are not published, ``watch.py`` ends a JVM that gives no answer.
"""
