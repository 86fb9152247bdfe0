"""The package's one exception family; its exit codes are those of the command line."""

from typing import ClassVar


class TraceAnalysisError(Exception):
    """Something in the input, the options or the machine stops the analysis; the message is one line for the user."""

    exit_code: ClassVar[int] = 255


class BadTracesError(TraceAnalysisError):
    """A file or folder of traces is missing, cut, changed or of another schema."""

    exit_code: ClassVar[int] = 150


class BadOptionError(TraceAnalysisError):
    """An option or the configuration of the machine can't be used as it is."""

    exit_code: ClassVar[int] = 151


class DisagreementError(TraceAnalysisError):
    """Two independent evaluations of one property gave different numbers; neither can be believed."""

    exit_code: ClassVar[int] = 75


class SparkFailedError(TraceAnalysisError):
    """Spark itself gave up: no worker, no memory, no cluster at that address."""

    exit_code: ClassVar[int] = 255
