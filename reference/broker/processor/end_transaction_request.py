"""END_TRANSACTION as a producer sends it (``EndTransactionRequestHeader``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.record import TRANSACTION_COMMIT

if TYPE_CHECKING:
    from reference.format.offsets import CommitLogOffset, QueueOffset

TRANSACTION_NOT_TYPE: Final = 0
TRANSACTION_ROLLBACK: Final = 3 << 2
"""``MessageSysFlag.TRANSACTION_ROLLBACK_TYPE``"""

COMMIT_OR_ROLLBACK: Final = (TRANSACTION_NOT_TYPE, TRANSACTION_COMMIT, TRANSACTION_ROLLBACK)
"""What ``commitOrRollback`` may be: UNKNOWN, commit or rollback."""


@dataclass(frozen=True, slots=True)
class EndTransactionRequestHeader:
    """One END_TRANSACTION.

    Attributes
    ----------
    tran_state_table_offset, commit_log_offset
        Where the half lies that is meant: its queue offset, and its place in the commit log in bytes.
    commit_or_rollback
        0, 8 or 12: see :data:`COMMIT_OR_ROLLBACK`.
    from_transaction_check
        Whether it answers a check.
    msg_id, transaction_id
        The broker does not look at them (B10).
    """

    producer_group: str
    tran_state_table_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    commit_or_rollback: int
    from_transaction_check: bool = False
    msg_id: str = ""
    transaction_id: str | None = None
