"""Real brokers: a name server and a broker of a release on loopback, and its Java client, led by Python."""
