"""A raw client of the remoting protocol, with the requests of a probe, which leave the state of others alone."""
