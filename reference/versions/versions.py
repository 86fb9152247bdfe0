"""RocketMQ's versions as switches, and profiles: a version with some of its switches turned."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Final

from reference.versions.switches import ReleaseSwitches

V4_5_1: Final = ReleaseSwitches(
    op_end_commits_offset=True,
    rewinds_beyond_end=True,
    undecodable_throws=True,
    delivers_real_topic=True,
    keeps_last_separator=True,
    copies_stale_bytes=True,
    spells_maped=True,
    renames_config_files=True,
    decompresses_scanned=True,
    measures_whole_records=True,
    measures_age_once=True,
)

V4_9_7: Final = replace(
    V4_5_1,
    marks_op_done_on_hit=True,
    op_end_commits_offset=False,
    keeps_discarded=True,
    rewinds_beyond_end=False,
    undecodable_throws=False,
    stores_cluster=True,
    keeps_last_separator=False,
    reinserts_wait=True,
    copies_stale_bytes=False,
    spells_maped=False,
    decompresses_scanned=False,
    drops_scheduled_halves=True,
    forbids_system_topics=True,
    spares_op_queue=True,
    names_reasons_of_refusal=True,
    measures_whole_records=False,
    clears_tran_msg=True,
    has_light_queues=True,
    falls_back_to_busy_channel=True,
    survives_errors=True,
    checks_run_by_caller=True,
    client_wraps_namespace=True,
    client_clears_delay_level=True,
    client_clears_tran_msg=True,
)

V5_0_0: Final = replace(
    V4_9_7,
    stores_region=True,
    creates_unique_key=True,
    reinserts_wait=False,
    versions_consumer_offsets=True,
    abort_file_content=b"1",
    has_timer_wheel=True,
    lower_end_passes_all=True,
    guards_retries=True,
    needs_decodable_half=True,
)

V5_1_0: Final = replace(
    V5_0_0,
    needs_decodable_half=False,
    batches_ops=True,
    escapes=True,
    sleeps_without_ops=True,
    tolerates_null_op_pull=True,
    stores_transaction_id=True,
    has_large_property_map=True,
    stores_long_topics=True,
    renames_config_files=False,
)

V5_2_0: Final = replace(
    V5_1_0,
    refuses_late_end=True,
    keeps_last_separator=True,
    keeps_wait_of_light=True,
    closes_op_service=True,
    counts_halves=True,
)

V5_3_3: Final = replace(V5_2_0, trusts_what_is_dispatched=True, clears_compressed_flag=True)

V5_4_0: Final = replace(
    V5_3_3,
    equal_age_is_young=True,
    joins_round_first=True,
    delivers_real_topic=False,
    prints_each_item=True,
    spreads_empty_tables=True,
    forces_metrics_file=True,
    recovers_few_files=True,
    counts_halves_only=True,
    settles_halves_only=True,
)

V5_5_0: Final = replace(
    V5_4_0,
    spreads_empty_tables=False,
    saves_pull_offsets=True,
    counts_order_info=True,
    client_refuses_delays=True,
    wakes_by_last_write=True,
    resumes_as_stored=True,
)

V5_5_1: Final = replace(V5_5_0, saves_pull_offsets=False, waits_before_saving_counts=True)

VERSIONS: Final = {
    "4.5.1": V4_5_1,
    "4.9.7": V4_9_7,
    "5.3.3": V5_3_3,
    "5.4.0": V5_4_0,
    "5.5.0": V5_5_0,
    "5.5.1": V5_5_1,
}
"""The versions of which the specification has a profile, by number."""

STORE_VERSIONS: Final = dict(sorted((VERSIONS | {"5.0.0": V5_0_0, "5.1.0": V5_1_0, "5.2.0": V5_2_0}).items()))
"""The versions that this broker can be, by number; of the others only what they store is held against the real ones."""

_V4_3: Final = replace(V4_5_1, measures_age_once=False)
_V4_7_1: Final = replace(
    V4_9_7,
    rewinds_beyond_end=True,
    needs_decodable_half=True,
    keeps_last_separator=True,
    copies_stale_bytes=True,
    reinserts_wait=False,
    forbids_system_topics=False,
    spares_op_queue=False,
    names_reasons_of_refusal=False,
    has_light_queues=False,
)
_V5_1_4: Final = replace(V5_1_0, refuses_late_end=True, closes_op_service=True)

WITHOUT_STORES: Final = {"4.3.0": _V4_3, "4.3.2": _V4_3, "4.7.1": _V4_7_1, "5.1.4": _V5_1_4}
"""Releases of which no real store is at hand; all but the first run in lockstep with their own classes."""

_TURNED = re.compile(r"([+-])(\w+)")


def switches_of(name: str) -> ReleaseSwitches:
    """A version by its number, with switches turned: ``4.5.1+guards_retries`` has one more, ``5.3.3-batches_ops`` less.

    Raises
    ------
    ValueError
        There is no such version or no such switch; names what there is.

    Examples
    --------
    >>> switches_of("5.3.3-batches_ops").batches_ops, switches_of("4.5.1+keeps_flag").keeps_flag
    (False, True)
    """
    version = re.split(r"[+-]", name, maxsplit=1)[0]
    known_versions = dict(sorted((STORE_VERSIONS | WITHOUT_STORES).items()))
    turned = {switch: sign == "+" for sign, switch in _TURNED.findall(name[len(version) :])}
    known = {field.name for field in fields(ReleaseSwitches)} - {"abort_file_content"}
    if version not in known_versions:
        message = f"{name!r}: no version {version!r}; there are {', '.join(known_versions)}"
        raise ValueError(message)
    unknown = sorted(turned.keys() - known)
    if unknown:
        message = f"{name!r}: no switch {unknown[0]!r}; there are {', '.join(sorted(known))}"
        raise ValueError(message)
    return replace(known_versions[version], **turned)
