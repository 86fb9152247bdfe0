"""Errors of recorded runs that can't be held against the reference broker."""

from __future__ import annotations


class ConformanceError(Exception):
    """The root of this family; the message is one line that names the path, `exit_code` what a command ends with."""

    def __init__(self, message: str, *, exit_code: int = 150) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class BrokenScheduleError(ConformanceError):
    """A file is not a schedule."""


class NoScheduleError(ConformanceError):
    """The logs beside a store are missing, or no schedule can be made out of them."""


class ReleaseGateError(ConformanceError):
    """Releases can't be compared: a name, a jar or a record of them is wrong."""


class JarsError(ConformanceError):
    """The jars of a release are not known, or not those that its hashes say."""


class MavenError(ConformanceError):
    """Maven is missing, takes too long, or fails."""


class JavaError(ConformanceError):
    """There is no JDK, or it can't do what is asked of it."""
