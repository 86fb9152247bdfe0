"""What can be wrong with a recorded run, so that it can't be held against the reference broker."""

from __future__ import annotations


class ConformanceError(Exception):
    """The root of this family; the message is one line that names the path."""

    exit_code: int = 150


class BrokenScheduleError(ConformanceError):
    """A file is not a schedule."""


class NoScheduleError(ConformanceError):
    """The logs beside a store are missing, or no schedule can be made out of them."""
