"""The output of ``halfcheck audit``: what is wrong first, with what to do, then the table and the counts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from document.parts import List, Paragraph, Part, Table, tabulated
from document.words import counted, first_of
from spark_trace_analysis.audit.audit import Audit, unanswered_checks
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow, local_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_MANY: Final = 50
"""Beyond this number of transactions the table leaves out the plain ones."""

_WITH_KEYS_AND_TIMES: Final = 180
"""Columns from which the table has KEYS, and when the first record was stored."""

_NARROWEST_KEY: Final = 16
_BESIDE_THE_KEY: Final = 55
"""The columns that no width cuts, but for the key: state, five counts, and the gaps between them."""


def audit_in_words(audit: Audit, width: int, *, everything: bool, limit: int) -> Iterator[Part]:
    """An audit, with all transactions, or at most so many that are not plainly delivered or rolled back."""
    asked = audit.asked_for
    rows = audit.listed(everything=everything or asked.total <= min(_MANY, limit), limit=limit)
    yield from _what_is_wrong(audit, [row for row in rows if not row.is_plain])
    if rows:
        yield _table(rows, width)
    if not audit.selection.is_everything:
        yield Paragraph(f"{counted(asked.total, 'transaction')} asked for: {_of_each_state(asked.counts)}")
    yield Paragraph(f"{counted(audit.total, 'transaction')}: {_of_each_state(audit.counts)}")
    yield Paragraph(f"{counted(audit.records, 'record')}, written by {audit.written_by}")
    yield Paragraph(f"trace: {audit.trace.sentence()}")
    if audit.trace.why_profile:
        yield Paragraph(audit.trace.why_profile)
    omitted = asked.total - len(rows)
    if omitted:
        not_shown = f"{counted(omitted, 'transaction')} {'is' if omitted == 1 else 'are'} not shown"
        plain = asked.plain - sum(row.is_plain for row in rows)
        yield Paragraph(f"{not_shown}, {plain} of them plainly delivered or rolled back")
    if audit.tasks_found:
        yield Paragraph(f"gone on with: {counted(audit.tasks_found, 'task')} finished before")
    for note in audit.notes:
        yield Paragraph(f"note: {note}")
    for region in audit.corrupt[:limit]:
        yield Paragraph(f"corrupt: {region}")
    if audit.damage > min(len(audit.corrupt), limit):
        yield Paragraph(f"{audit.damage - min(len(audit.corrupt), limit)} more pieces of damage are not shown")


def _of_each_state(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "none"


def _what_is_wrong(audit: Audit, rows: Sequence[TransactionRow]) -> Iterator[Part]:
    """The states of transactions, the gravest first; then damage, and a trace that is not explained."""
    grave = audit.asked_for.total - audit.asked_for.plain
    if len(rows) < grave:
        named = f"the {len(rows)} gravest are" if rows else "none is"
        yield Paragraph(f"{grave} transactions are not plainly delivered or rolled back; {named} named (--limit)")
    alike: dict[tuple[tuple[str, ...], str], list[TransactionRow]] = defaultdict(list)
    for row in rows:
        alike[(row.state, *row.also), row.advice].append(row)
    gravity = list(audit.counts)
    for (states, advice), those in sorted(alike.items(), key=lambda one: gravity.index(one[0][0][0])):
        named = first_of([row.unique_key for row in those])
        like = " ".join(dict.fromkeys(defect for row in those for defect in row.resembles))
        yield Paragraph(f"{len(those)} {' and '.join(states)}{f' ({like})' if like else ''}: {named}")
        yield List((advice,))
    for group, checks, keys, received in unanswered_checks(rows, audit.received_checks):
        asked = f"{counted(checks, 'check')} of {group or 'no group'} {'was' if checks == 1 else 'were'} counted"
        yield Paragraph(f"{asked}, and neither a commit nor a rollback came: {first_of(keys)}")
        if received is not None:
            yield List((f"{received} of {checks} reached a client, as driver.jsonl in the store says.",))
        yield List((_WHO_ANSWERS,))
    if audit.damage:
        pieces = f"{counted(audit.damage, 'piece')} of damage"
        yield Paragraph(f"{pieces}, listed below: what could be read is judged, the rest is not")
    advice_on_trace = audit.trace.advice()
    if advice_on_trace:
        yield Paragraph(f"The specification of {audit.trace.profile} does not explain the store; why stands below.")
        yield List(tuple(advice_on_trace))
    if not audit.asked_for.total and audit.total:
        yield Paragraph(
            f"None of the {counted(audit.total, 'transaction')} fits {' and '.join(audit.selection.options)}."
        )
    elif not grave and not audit.damage and not advice_on_trace:
        what = "Nothing" if audit.selection.is_everything else "Nothing that is asked for"
        yield Paragraph(f"{what} is lost, doubled, parked or pending.")
    yield Paragraph("")


_WHO_ANSWERS: Final = (
    "See that a producer of the group is connected, that its listener for checks returns commit or rollback, and that "
    "the broker does not refuse them (minInSyncReplicas); rocketmq-client-go answers for a process's first producer "
    "group only."
)


def _table(rows: Sequence[TransactionRow], width: int) -> Table:
    headings = [
        "transaction", "~group", "~topic", "state", "~also",
        ">delivered", ">checks", ">put back", ">halves", ">ops", "~resembles",
    ]  # fmt: skip
    is_wide = width >= _WITH_KEYS_AND_TIMES
    keys = _fitting_keys([row.unique_key for row in rows], width - _BESIDE_THE_KEY)
    cells = [
        (
            *(key, row.group, row.topic, row.state.value, ", ".join(row.also)),
            *(row.deliveries, row.checks, row.put_backs, len(row.half_offsets), len(row.op_offsets)),
            *(" ".join(row.resembles), row.keys, local_time(row.moments.stored_at) or "")[: 3 if is_wide else 1],
        )
        for key, row in zip(keys, rows, strict=True)
    ]
    return tabulated(*headings, *(["~keys", "stored"] if is_wide else []), rows=cells)


def _fitting_keys(keys: list[str], room: int) -> list[str]:
    """Keys that are too long for the room without their middle, unless there is hardly any or they would be alike.

    Examples
    --------
    >>> _fitting_keys(["C0000202575B4E0E2F2A7142A14C0006"], 20)
    ['C000…F2A7142A14C0006']
    """
    if room < _NARROWEST_KEY or all(len(key) <= room for key in keys):
        return keys
    head = room // 5
    short = [key if len(key) <= room else f"{key[:head]}…{key[head + 1 - room :]}" for key in keys]
    return short if len(set(short)) == len(set(keys)) else keys
