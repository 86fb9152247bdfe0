"""Errors of brokers and clients that nobody here wrote."""

from conformance.errors import ConformanceError


class RealBrokerError(ConformanceError):
    """It could not be built, fetched, started or led: a crate, Java, or the broker itself."""
