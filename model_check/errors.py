"""Errors of the engines; the command line turns it into one line and an exit code."""

from __future__ import annotations

from typing import ClassVar


class ModelCheckError(Exception):
    """Something that the user can mend: the message names the value, what was expected and what to do."""

    exit_code: ClassVar[int] = 151


class BadFile(ModelCheckError):
    """A file that was given cannot be read, or its content makes no sense."""

    exit_code: ClassVar[int] = 150


class NotInTheLanguage(ModelCheckError):
    """The specification's source uses something that the engines do not share."""

    exit_code: ClassVar[int] = 75


class EvaluationError(ModelCheckError):
    """A value left its declared range while an engine ran."""

    exit_code: ClassVar[int] = 75


class OutOfRoom(ModelCheckError):
    """The memory or the disk that an engine may use is full; the message says what it had found."""

    exit_code: ClassVar[int] = 255


class DiskFull(OutOfRoom):
    """The disk does not take the states that leave the memory."""
