"""Calls that no client and no thread of a real broker could make, as errors."""

from __future__ import annotations


class BrokerError(Exception):
    """The root of this family; a refusal that RocketMQ itself knows is a response or a result, never an error."""

    exit_code: int = 255


class BrokerIsDownError(BrokerError):
    """The process that was to do this has crashed or was shut down; restart the broker and ask the new one."""


class BrokerIsRunningError(BrokerError):
    """The process still runs, and the store's lock file keeps a second one out; stop it first."""


class ThrownInCheckError(BrokerError):
    """An exception in ``TransactionalMessageServiceImpl#check``, which catches and logs it: the round dies."""


class ErrorInCheckError(ThrownInCheckError):
    """A Java ``Error``, such as too little memory for a message: older versions catch exceptions only (A40)."""


class JavaNullPointerError(BrokerError):
    """A NullPointerException that the broker only logs."""


class ActivityIsOverError(BrokerError):
    """A round or an END_TRANSACTION that has taken its last step was asked for another."""
