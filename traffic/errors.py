"""Errors of the workload and its simulation; the command line turns each into one line and an exit code."""

from __future__ import annotations

from typing import ClassVar


class TrafficError(Exception):
    """Something that the user can mend: the message names the value, what was expected and what to do."""

    exit_code: ClassVar[int] = 151


class BadWorkloadError(TrafficError):
    """A workload file that makes no sense, or leaves out what has no default."""

    exit_code: ClassVar[int] = 150
