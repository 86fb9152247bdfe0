"""What a broker is to its group (``BrokerRole``, ``BrokerConfig.brokerId``)."""

from __future__ import annotations

from enum import Enum


class BrokerRole(Enum):
    """A master, a slave, or a slave that does a dead master's special work."""

    MASTER = "master"
    SLAVE = "slave"
    ACTING_MASTER = "acting_master"
    """A slave with ``enableSlaveActingMaster`` and the smallest id of those alive in its group (5.1.0 and later)."""

    @property
    def is_slave(self) -> bool:
        """Whether the store takes no messages, and END_TRANSACTION is refused."""
        return self is not BrokerRole.MASTER
