"""The whole machine: state, actions and properties of transactional messages, in the order in which they are tried."""

from __future__ import annotations

from dataclasses import replace

from spec.chapters import (
    broken_round,
    broker,
    check_round,
    discarding,
    end_transaction,
    escape,
    network,
    op_batch,
    others,
    producer,
    proxy,
    putting_back,
    retention,
    shutdown,
)
from spec.constants import FAULTS, SWITCHES
from spec.fairness import FAIRNESS
from spec.forgetting import forget
from spec.language import Machine, actions_of, clauses_of, responses_of, witnesses_of
from spec.properties import (
    l1_no_orphan,
    l2_full_budget,
    l3_head_of_line,
    l4_op_progress,
    l5_commit_progress,
    p_progress,
    r1_bounded_work,
    s1_at_most_once,
    s2_decision_agreement,
    s3_no_wrong_commit,
    s4_no_foreign_resolution,
    s5_half_invisibility,
    s6_content_fidelity,
    s7_op_offset_safety,
    s8_half_offset_safety,
    s9_quiet_commit,
    s10_honest_ack,
)
from spec.state import State

_PROPERTIES = (
    s1_at_most_once,
    s2_decision_agreement,
    s3_no_wrong_commit,
    s4_no_foreign_resolution,
    s5_half_invisibility,
    s6_content_fidelity,
    s7_op_offset_safety,
    s8_half_offset_safety,
    s9_quiet_commit,
    s10_honest_ack,
    l1_no_orphan,
    l2_full_budget,
    l3_head_of_line,
    l4_op_progress,
    l5_commit_progress,
    r1_bounded_work,
)
"""In the order in which they are judged."""

_CHAPTERS = (
    producer,
    proxy,
    network,
    end_transaction,
    op_batch,
    check_round,
    putting_back,
    discarding,
    broken_round,
    escape,
    broker,
    retention,
    shutdown,
)

TRANSACTIONAL_MESSAGES = Machine(
    name="transactional_messages",
    state=State,
    actions=actions_of(*_CHAPTERS),
    clauses=clauses_of(*_PROPERTIES),
    witnesses=witnesses_of(*_PROPERTIES),
    switches=SWITCHES + FAULTS,
    symmetric="transaction",
    forget=forget,
    queues={"half_length": "half_slots", "op_length": "op_slots"},
    responses=responses_of(p_progress),
    fairness=FAIRNESS,
)

AMONG_OTHERS = replace(TRANSACTIONAL_MESSAGES, actions=actions_of(*_CHAPTERS, others))
"""The same of one transaction among any number of others, in an instance that is crowded."""
