"""The exit codes of every command, in one place because scripts depend on them.

They follow TLC and Apalache, so that a script written for those can read halfcheck's verdicts.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code says."""

    OK = 0
    DEADLOCK = 11
    SAFETY_VIOLATED = 12
    LIVENESS_VIOLATED = 13
    EVALUATION_ERROR = 75
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    BAD_CONTENT = 150
    BAD_OPTION = 151
    OTHER = 255

    @classmethod
    def of_verdict(cls, *, is_broken: bool, is_complete: bool) -> ExitCode:
        """What a search says: a violation counts even if the search was cut short."""
        if is_broken:
            return cls.SAFETY_VIOLATED
        return cls.OK if is_complete else cls.OTHER
