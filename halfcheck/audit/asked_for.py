"""What the options of ``halfcheck audit`` ask for: which transactions, and what makes the exit code another than 0."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.selection import Selection

DAMAGE: Final = "damage"

Topics = Annotated[list[str] | None, typer.Option("--topic", help="Only of this real topic; repeatable.")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="Only of this producer group; repeatable.")]
States = Annotated[str, typer.Option("--state", metavar="STATE,…", help="Only in one of these states: lost,doubled.")]
Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only with a record since then: 2026-03-01T10:00, or so long ago: 2h."
    ),
]
Keys = Annotated[
    list[str] | None,
    typer.Option("--transaction", "--key", metavar="ID", help="Only this UNIQ_KEY, or one of its KEYS; repeatable."),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT,…",
        help="States that make the exit code 12, and damage, which makes it 150; what is not named makes it 0.",
    ),
]


def selection_of(
    topics: Sequence[str] | None,
    groups: Sequence[str] | None,
    states: str,
    since: str | None,
    keys: Sequence[str] | None,
) -> Selection:
    """What is asked for.

    Raises
    ------
    BadOptionError
        A state is none, or a time is none.
    """
    from spark_trace_analysis.audit import selection

    return selection.Selection(
        topics=tuple(topics or ()),
        groups=tuple(groups or ()),
        states=selection.states_called(states),
        since_ms=None if since is None else selection.since(since, datetime.now(UTC)),
        keys=tuple(keys or ()),
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
