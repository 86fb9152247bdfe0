"""What the broker is to its group, as rules ask for it."""

from __future__ import annotations

from spec.constants import Constants
from spec.state import Role, State


def is_master(s: State) -> bool:
    """The broker is the master, also while it is shut down: its store takes messages to the end."""
    return s.role == Role.MASTER or s.role == Role.STOPPING


def takes_ends(s: State, c: Constants) -> bool:
    """A master handles what has arrived; one that stops goes on with what its pool holds, which it does not await.

    RocketMQ: BrokerController#shutdown, endTransactionExecutor; a repaired one has awaited it.
    """
    return s.role == Role.MASTER or (s.role == Role.STOPPING and not c.awaits_ends_on_stop)
