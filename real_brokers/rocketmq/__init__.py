"""Real brokers: the jars of a release, a name server and a broker on loopback, and its Java client, led by Python."""
