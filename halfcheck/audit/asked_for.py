"""What the options of ``halfcheck audit`` ask for: which transactions, and what makes the exit code another than 0."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode
from halfcheck.options import names_in

if TYPE_CHECKING:
    from halfcheck.audit.audit_options import AuditOptions
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.state import TransactionState
    from spark_trace_analysis.audit.selection import Selection

DAMAGE: Final = "damage"


def selection_of(options: AuditOptions) -> Selection:
    """What is asked for.

    Raises
    ------
    BadOptionError
        A state is none, a time is none or is to come, or a key is empty.
    """
    from spark_trace_analysis.audit import selection
    from spark_trace_analysis.errors import BadOptionError

    if any(not key.strip() for key in options.keys or ()):
        message = "--transaction '': expected a UNIQ_KEY or one of the KEYS"
        raise BadOptionError(message)
    return selection.Selection(
        topics=tuple(options.topics or ()),
        groups=tuple(options.groups or ()),
        states=selection.states_called("--state", names_in(options.states)) if options.states else (),
        since_ms=None if options.since is None else selection.since(options.since, datetime.now(UTC)),
        keys=tuple(options.keys or ()),
    )


@dataclass(frozen=True, slots=True)
class Failing:
    """What makes the exit code another than 0.

    Attributes
    ----------
    states
        Those of transactions that are asked for.
    damage
        Whether damage does.
    """

    states: tuple[TransactionState, ...] = ()
    damage: bool = True

    @classmethod
    def of(cls, text: str | None) -> Failing:
        """What ``--fail-on`` names; without it damage fails, and no state does.

        Raises
        ------
        BadOptionError
            It names nothing, or what no audit finds.
        """
        from spark_trace_analysis.audit.selection import states_called

        if text is None:
            return cls()
        names = names_in(text)
        others = [name for name in names if name != DAMAGE]
        states = states_called("--fail-on", others, besides=(DAMAGE,)) if others or not names else ()
        return cls(states, DAMAGE in names)

    def exit_code(self, audit: Audit) -> ExitCode:
        """0, or what was found of that which is to fail: transactions that are asked for come before damage."""
        if any(audit.asked_for.holding[state] for state in self.states):
            return ExitCode.SAFETY_VIOLATED
        return ExitCode.BAD_CONTENT if audit.damage and self.damage else ExitCode.OK
