"""The whole machine: state, actions and properties of transactional messages, in the order in which they are tried."""

from __future__ import annotations

from spec import broker, check_round, end_transaction, network, op_batch, producer
from spec.constants import FAULTS, SWITCHES
from spec.language import Machine, declared_action, declared_always, declared_sometimes
from spec.observation import OBSERVATIONS
from spec.properties import (
    l2_full_budget,
    s1_at_most_once,
    s2_decision_agreement,
    s7_op_offset_safety,
    s8_half_offset_safety,
    s9_quiet_commit,
    s10_honest_ack,
)
from spec.state import State

ACTIONS = (
    producer.send_half,
    producer.commit_locally,
    producer.roll_back_locally,
    producer.leave_it_unknown,
    producer.resolve_to_commit,
    producer.resolve_to_rollback,
    producer.answer_check,
    producer.answer_check_too_early,
    end_transaction.store_real_message,
    end_transaction.write_op,
    end_transaction.buffer_op,
    end_transaction.refuse_late_end,
    op_batch.write_op_batch,
    check_round.begin_round,
    check_round.pass_settled_half,
    check_round.discard_half,
    check_round.pass_half_of_settled_original,
    check_round.put_back_immune_half,
    check_round.put_back_and_check,
    check_round.pull_more_ops,
    check_round.end_round_at_queue_end,
    check_round.end_round_at_fresh_half,
    check_round.end_round_before_dispatch,
    check_round.end_round_at_young_half,
    check_round.end_round_at_time_limit,
    broker.persist_offsets,
    network.lose_end,
    network.lose_check,
    network.duplicate_end,
    network.send_wrong_commit,
    network.send_wrong_rollback,
    network.answer_with_wrong_commit,
    network.answer_with_wrong_rollback,
    broker.crash,
    broker.tick,
)

CLAUSES = (
    s1_at_most_once.a_repeated_end_delivers_once,
    s1_at_most_once.an_end_inside_the_immunity_delivers_once,
    s1_at_most_once.an_end_after_a_check_delivers_once,
    s1_at_most_once.a_lost_op_delivers_once,
    s1_at_most_once.a_late_op_delivers_once,
    s1_at_most_once.a_forked_copy_delivers_once,
    s1_at_most_once.a_passed_op_delivers_once,
    s1_at_most_once.every_second_delivery_has_a_cause,
    s2_decision_agreement.a_rolled_back_transaction_is_never_delivered,
    s2_decision_agreement.a_delivered_transaction_is_never_rolled_back,
    s7_op_offset_safety.no_passed_op_names_a_half_ahead,
    s7_op_offset_safety.no_op_that_a_restart_passes_names_a_half_ahead,
    s8_half_offset_safety.a_discarded_half_leaves_a_record,
    s8_half_offset_safety.a_passed_half_lives_on,
    s9_quiet_commit.an_end_inside_the_immunity_ends_the_checks,
    s9_quiet_commit.no_check_for_want_of_a_lost_op,
    s9_quiet_commit.no_check_ahead_of_a_late_op,
    s9_quiet_commit.no_check_of_a_forked_copy,
    s9_quiet_commit.no_check_behind_a_passed_op,
    s9_quiet_commit.every_needless_check_has_a_cause,
    s10_honest_ack.an_acknowledged_end_keeps_its_op_entry,
    l2_full_budget.a_half_is_discarded_after_all_its_checks,
)

WITNESSES = (
    s1_at_most_once.a_check_led_to_a_delivery,
    s2_decision_agreement.a_rollback_is_acknowledged,
    s7_op_offset_safety.the_op_offset_moves,
    s8_half_offset_safety.the_saved_half_offset_passes_a_copied_half,
    s9_quiet_commit.an_end_is_acknowledged_in_time,
    s10_honest_ack.an_acknowledged_end_has_its_op_message,
    l2_full_budget.a_half_is_discarded_with_its_budget_spent,
)

TRANSACTIONAL_MESSAGES = Machine(
    name="transactional_messages",
    state=State,
    actions=tuple(declared_action(f) for f in ACTIONS),
    clauses=tuple(declared_always(f) for f in CLAUSES),
    witnesses=tuple(declared_sometimes(f) for f in WITNESSES),
    switches=SWITCHES + FAULTS,
    observations=OBSERVATIONS,
)
