"""What may go wrong, one switch a fault. With none of them the world is quiet.

In the quiet world each END is sent, arrives and is handled once, before any check of its transaction and at an age of
at most max(timeout, immunity); producers are online and answer checks before the transaction is checked again; rounds
take no time. A fault only adds behaviour: whatever can happen without it can happen with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Faults:
    """The environment.

    Attributes
    ----------
    slow_local : bool
        A local transaction may outlive the first check of its half; a check then finds it undecided.
    lose_end, lose_check : bool
        An END_TRANSACTION or a check request may vanish.
    duplicate_end : bool
        An END_TRANSACTION that was handled may arrive again.
    reorder : bool
        An END_TRANSACTION may be sent again before the first is handled, and either may be handled first, or both at
        once by two threads.
    wrong_end : bool
        An END_TRANSACTION may arrive that its producer's outcome or an open check does not account for: it contradicts
        an earlier one, or names a copy that nobody asked about (A12, A36).
    late_end : bool
        An END_TRANSACTION, a check request or its answer may be under way for any time, or be handled slowly.
    offline_producer : bool
        All producers of the group may lose their connections (B19).
    restarted_producer : bool
        All producers of the group may start again, and stay unknown to the broker until they send (A35).
    bad_store_status : bool
        The broker may answer a send with a status other than SEND_OK although the half is stored (A37).
    twin_send : bool
        A send may be repeated although the half is stored (A39).
    preset_original : bool
        A message may carry TRAN_PREPARED_QUEUE_OFFSET when it is sent, as one that was consumed does (B56).
    slow_round : bool
        Time may pass while a round runs.
    slow_dispatch : bool
        A copy may not be in its consume queue yet when the round that stored it comes to it.
    put_failure : bool
        A write to the commit log may fail: of any record now and then, or of all copies of one half (B07, B08, B31).
    op_write_failure : bool
        The write of an op message may fail (B04).
    null_half : bool
        The store may find no message at an offset that has one, or answer nothing at all (A08).
    undecodable_half, undecodable_op : bool
        A half or op message that was stored may not be decodable (A07, B17).
    clock_skew : bool
        The clock of a producer may differ from the broker's (A21, B27).
    clock_step : bool
        The broker's clock may step back (B28).
    crash : bool
        The broker's process may die (and start again): memory is lost, what was written stays.
    power_loss : bool
        The machine may lose power: what was not flushed of the commit log is lost, too (B13, B14).
    graceful_stop : bool
        The broker may be shut down as it should be, and started again (B03).
    late_persist : bool
        Offsets may be ahead of their file for any time.
    offset_regression : bool
        A consumer offset of the check service may go back to an earlier value (B16).
    role_change : bool
        The broker may become a slave and a master again.
    acting_slave : bool
        The master may die, and a slave act for it until it is back (5.1 and later; B20–B23).
    resume_discarded : bool
        An operator may put a discarded half back into the half queue (RESUME_CHECK_HALF_MESSAGE).
    retention : bool
        The oldest files of the commit log may be deleted, for their age or as the disk is full, and the lower ends of
        the queues follow later, or never (B24, B44, B50, B51, B55).
    restart_proxy : bool
        A proxy may start again (A49).
    other_proxy : bool
        A request of a producer, or a check, may come to another proxy than the send (A49).
    slow_proxy : bool
        The answer to a send may take longer than the client's patience, 3 s, so that it is sent again (A39).
    shared_topic : bool
        Another service may send to the topic, and be asked in the place of the one that has sent the message.
    """

    slow_local: bool = False
    lose_end: bool = False
    lose_check: bool = False
    duplicate_end: bool = False
    reorder: bool = False
    wrong_end: bool = False
    late_end: bool = False
    offline_producer: bool = False
    restarted_producer: bool = False
    bad_store_status: bool = False
    twin_send: bool = False
    preset_original: bool = False
    slow_round: bool = False
    slow_dispatch: bool = False
    put_failure: bool = False
    op_write_failure: bool = False
    null_half: bool = False
    undecodable_half: bool = False
    undecodable_op: bool = False
    clock_skew: bool = False
    clock_step: bool = False
    crash: bool = False
    power_loss: bool = False
    graceful_stop: bool = False
    late_persist: bool = False
    offset_regression: bool = False
    role_change: bool = False
    acting_slave: bool = False
    resume_discarded: bool = False
    retention: bool = False
    restart_proxy: bool = False
    other_proxy: bool = False
    slow_proxy: bool = False
    shared_topic: bool = False
