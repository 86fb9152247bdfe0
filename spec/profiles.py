"""RocketMQ versions as sets of switches, and the repaired protocol. A later version is the earlier one, some turned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spec.switches import Switches

if TYPE_CHECKING:
    from collections.abc import Iterable

_4_5_1 = Switches(
    marks_op_done_on_hit=False,
    op_end_commits_offset=True,
    batches_ops=False,
    keeps_discarded=False,
    refuses_late_end=False,
    equal_age_is_young=False,
    rewinds_beyond_end=True,
    undecodable_throws=True,
    escapes=False,
    lower_end_passes_all=False,
    truncates_running=False,
)
_4_9_7 = replace(
    _4_5_1,
    marks_op_done_on_hit=True,
    op_end_commits_offset=False,
    keeps_discarded=True,
    rewinds_beyond_end=False,
    undecodable_throws=False,
)
_5_3_3 = replace(
    _4_9_7,
    batches_ops=True,
    refuses_late_end=True,
    escapes=True,
    lower_end_passes_all=True,
    truncates_running=True,
)
_5_4_0 = replace(_5_3_3, equal_age_is_young=True, joins_round_first=True)
_5_5_0 = replace(_5_4_0, batch_thread_oversleeps=False)
_5_5_1 = replace(_5_5_0, resets_lower_end=True)
_FIXED = replace(
    _5_5_1,
    batches_ops=False,
    refuses_late_end=False,
    heeds_settled_originals=True,
    links_every_copy=True,
    settles_once=True,
    keeps_check_open=True,
    counts_sent_checks=True,
    discards_instead_of_checking=True,
    keeps_progress=True,
    flushes_before_saving=True,
    clamps_offsets=True,
    skips_undecodable_ops=True,
    parks_poison=True,
    ends_at_failed_put=True,
    retries_discards=True,
    keeps_failed_ops=True,
    flushes_on_stop=True,
    awaits_ends_on_stop=True,
    keeps_flag=True,
    reads_ops_before_escape=True,
    insists_on_escape=True,
    escapes_once=True,
    adopts_slave_offsets=True,
    one_immunity=True,
    owns_check_times=True,
    owns_prepared_offset=True,
    ages_from_arrival=True,
    distrusts_future=True,
    copies_once=True,
    leaves_escaped=True,
    flushes_before_answering=True,
    retries_commits=True,
    asks_the_old=True,
    finishes_reading=True,
    passes_what_is_gone=True,
    keeps_pending_files=True,
    corrects_offsets_on_slave=True,
)

PROFILES: dict[str, Switches] = {
    "4.5.1": _4_5_1,
    "4.9.7": _4_9_7,
    "5.3.3": _5_3_3,
    "5.4.0": _5_4_0,
    "5.5.0": _5_5_0,
    "5.5.1": _5_5_1,
    "fixed": _FIXED,
}
"""The profiles by their names, oldest first; `fixed` is 5.5.1 with the repairs."""

VERSIONS = tuple(name for name in PROFILES if name != "fixed")
"""The profiles that are RocketMQ versions."""


def distinct(profiles: Iterable[str]) -> tuple[str, ...]:
    """Of profiles with the same switches the first one: what is found of it holds for the others.

    Examples
    --------
    >>> distinct(["5.4.0", "5.5.0", "5.4.0"])
    ('5.4.0', '5.5.0')
    """
    first: dict[Switches, str] = {}
    for name in profiles:
        first.setdefault(PROFILES[name], name)
    return tuple(first.values())
