"""What the options of ``halfcheck audit`` ask for: which transactions, and what makes the exit code another than 0."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode
from halfcheck.options import names_in

if TYPE_CHECKING:
    from halfcheck.audit.audit_options import AuditOptions
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.selection import Selection

DAMAGE: Final = "damage"


def selection_of(options: AuditOptions) -> Selection:
    """What is asked for.

    Raises
    ------
    BadOptionError
        A state is none, or a time is none.
    """
    from spark_trace_analysis.audit import selection

    return selection.Selection(
        topics=tuple(options.topics or ()),
        groups=tuple(options.groups or ()),
        states=selection.states_called(options.states),
        since_ms=None if options.since is None else selection.since(options.since, datetime.now(UTC)),
        keys=tuple(options.keys or ()),
    )


def require_known_failures(text: str | None) -> None:
    """Refuse what no audit finds, before it is made.

    Raises
    ------
    BadOptionError
        It names no state, nor damage.
    """
    from spark_trace_analysis.audit.selection import states_called

    states_called(",".join(name for name in names_in(text or "") if name != DAMAGE))


def exit_code(audit: Audit, fail_on: str | None) -> ExitCode:
    """0, or what was found of that which is to fail: transactions that are asked for come before damage.

    Without a choice damage fails, and no state does.
    """
    from spark_trace_analysis.audit.selection import states_called

    names = [DAMAGE] if fail_on is None else names_in(fail_on)
    failing = states_called(",".join(name for name in names if name != DAMAGE))
    if any(audit.asked_for.holding[state] for state in failing):
        return ExitCode.SAFETY_VIOLATED
    return ExitCode.BAD_CONTENT if audit.damage and DAMAGE in names else ExitCode.OK
