"""Wording of the faults, as whoever runs a broker says it; each stands under the name of its fault."""

from __future__ import annotations

from spec.constants import FAULTS

slow_local = "a local transaction may outlive the first check of its half"
lose_end = "an END_TRANSACTION may be lost"
lose_check = "a check request may be lost"
duplicate_end = "an END_TRANSACTION that was handled may arrive again"
reorder = "an END_TRANSACTION may be sent again before the first is handled, and overtake it"
wrong_end = "an END_TRANSACTION may contradict its producer's outcome, or answer a check that nobody sent"
late_end = "an END_TRANSACTION, a check request or its answer may be under way for any time"
offline_producer = "all producers of the group may lose their connections"
restarted_producer = "all producers of the group may start again, and stay unknown to the broker until they send"
bad_store_status = "a send may be answered with a status other than SEND_OK although the half is stored"
twin_send = "a client may send a message again although its half is stored"
preset_original = "a message may carry TRAN_PREPARED_QUEUE_OFFSET when it is sent, as one that was consumed does"
slow_round = "a check round may take time"
slow_dispatch = "a copy may not be in its consume queue yet when the round comes to it"
put_failure = "a write to the commit log may fail, and some halves can never be copied"
op_write_failure = "the write of an op message may fail"
null_half = "the store may not find a half that is there"
undecodable_half = "a half that is stored may not be readable"
undecodable_op = "an op message that is stored may not be readable"
clock_skew = "the clock of a producer may differ from the broker's"
clock_step = "the broker's clock may step back"
crash = "the broker's process may die"
power_loss = "the machine may lose power, and what was not flushed is lost"
graceful_stop = "the broker may be shut down as it should be, and started again"
late_persist = "offsets may be ahead of their file for any time"
offset_regression = "the offsets of the check service may go back"
role_change = "the broker may become a slave and a master again"
acting_slave = "the master may die, and a slave act for it until it is back"
resume_discarded = "an operator may put a discarded half back"
retention = "the oldest files of the commit log may be deleted, and the lower ends of queues follow later"

FAULTS_IN_WORDS = {fault: str(globals()[fault]) for fault in FAULTS}
"""By the name of the fault."""
