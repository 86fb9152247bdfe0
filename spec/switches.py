"""What a broker does in one way or another, one named switch a difference: between versions, or by a repair."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class VersionSwitches:
    """What differs between RocketMQ versions. The defaults are those of 5.3.3.

    Attributes
    ----------
    marks_op_done_on_hit : bool
        A half found in `removeMap` marks its op as done (from 4.6.0 on; A03).
    op_end_commits_offset : bool
        A pull exactly at the end of the op queue is taken as an illegal offset, and the op offset is committed to the
        end at once (up to 4.5.2; A02).
    batches_ops : bool
        Op messages are buffered and written in batches (from 5.1.0 on).
    batch_thread_oversleeps : bool
        The op batch thread wakes once an interval and may miss its time by one (5.1.0 to 5.4.0; A16; needs
        `batches_ops`); without it, it wakes just when the interval since the last write is over.
    keeps_discarded : bool
        A discarded half goes to TRANS_CHECK_MAX_TIME_TOPIC (from 4.5.2 on; before, it only left a log line, A31).
    refuses_late_end : bool
        A direct END_TRANSACTION of a half with an immunity that is over is answered ILLEGAL_OPERATION (from 5.1.1 on).
    equal_age_is_young : bool
        An age equal to the timeout or the immunity still counts as young (from 5.3.4 on; A19).
    rewinds_beyond_end : bool
        An offset beyond the end of its queue is corrected to the beginning, not to the end (up to 4.9.3; B15).
    undecodable_throws : bool
        A message that cannot be decoded ends the round with an exception (up to 4.5.2 as a null in a list, up to 4.9.4
        as an empty list of halves; A07).
    escapes : bool
        A slave may act for a dead master, and sends unresolved halves to another one (from 5.1.0 on).
    joins_round_first : bool
        A shutdown runs the check service once more and to its end before it closes the store, with no check sent (from
        5.4.0 on; before, the store closes first, and a round that runs fails; A29, B52).
    lower_end_passes_all : bool
        The lower end of a queue moves behind its last message where retention has deleted them all (from 5.0.0 on;
        before, it stays where it was, #8753).
    truncates_running : bool
        A broker that is to follow another master truncates its log while it runs (controller mode, from 5.0.0 on).
    resets_lower_end : bool
        The lower end of a queue of which a running broker truncates all goes back to the beginning (from 5.5.1 on; B51,
        #10418).
    """

    marks_op_done_on_hit: bool = True
    op_end_commits_offset: bool = False
    batches_ops: bool = True
    batch_thread_oversleeps: bool = True
    keeps_discarded: bool = True
    refuses_late_end: bool = True
    equal_age_is_young: bool = False
    rewinds_beyond_end: bool = False
    undecodable_throws: bool = False
    escapes: bool = True
    joins_round_first: bool = False
    lower_end_passes_all: bool = True
    truncates_running: bool = True
    resets_lower_end: bool = False


@dataclass(frozen=True, kw_only=True)
class RepairSwitches:
    """Repairs that are in no version yet; the profile `fixed` has those that work.

    Attributes
    ----------
    heeds_settled_originals : bool
        An op message that names a half counts for the copies that know it as their original, too (B01).
    links_every_copy : bool
        A copy that is put back for a check knows its original, too (a part of A11; needs `heeds_settled_originals`).
    settles_once : bool
        An END_TRANSACTION of a transaction that is settled changes nothing, and neither does the check service: the
        broker keeps an index of settled transactions, as durable as the real message (A12, A13, B16). As halves are
        passed without their op messages, a round reads what is left of those at its end.
    keeps_check_open : bool
        A half whose op entry waits in the op batch, or stands in the op queue unread, is not checked (B05, B06, B27).
    counts_sent_checks : bool
        Only a put-back that sends a check counts as one (A09, B19; with `discards_instead_of_checking` PR #8312).
    discards_instead_of_checking : bool
        A half without checks left is discarded where it would be checked, after all op messages were read (A10).
    keeps_progress : bool
        What a round has passed is committed step by step, so that an exception loses nothing (A08).
    flushes_before_saving : bool
        The commit log is flushed before the offsets are saved (B13).
    clamps_offsets : bool
        After a start, no offset is beyond the end of its queue (B14).
    skips_undecodable_ops : bool
        An op message that cannot be decoded counts as done, once a round is past all halves that stand before it in the
        log: it names no others (B17).
    parks_poison : bool
        A half whose copy cannot be stored goes to the discard topic (B07).
    ends_at_failed_put : bool
        A round ends at the first copy that is not stored, and the next one tries again after its interval (B08).
    retries_discards : bool
        A half whose discard record was not stored stays where it is (B31).
    keeps_failed_ops : bool
        The entries of an op message that was not stored wait for the next one (B04).
    flushes_on_stop : bool
        The op batch thread writes all that waits before it ends in a shutdown (a part of B03; needs `batches_ops`).
    awaits_ends_on_stop : bool
        A shutdown first awaits the pool that handles END_TRANSACTION; only then does the op batch thread end (B53).
    keeps_flag : bool
        A copy keeps the flag of its message (B32).
    reads_ops_before_escape : bool
        An acting slave reads all op messages before it lets a half escape (B20; needs `escapes`).
    insists_on_escape : bool
        An acting slave does not give a half up that cannot escape (B21), nor is it interrupted in that (B54; needs
        `escapes`).
    escapes_once : bool
        A half that is sent to another master again goes to the same one, which knows it by its transaction's id (B22;
        needs `escapes`).
    adopts_slave_offsets : bool
        A master that comes back always takes the offsets of the slave that acted for it (B23; needs `escapes`).
    one_immunity : bool
        The check service and END_TRANSACTION read an immunity in the same way: not shorter than the timeout (B25).
    owns_check_times : bool
        TRANSACTION_CHECK_TIMES of a message that a producer sends is ignored (B26).
    owns_prepared_offset : bool
        TRAN_PREPARED_QUEUE_OFFSET of a message that a producer sends is ignored (B56).
    ages_from_arrival : bool
        The age of a half counts from when the broker first stored it (A21, B27).
    distrusts_future : bool
        A half that was stored in the future is not taken for a fresh one (B28).
    copies_once : bool
        A half of which a copy stands further on in the queue is passed: no half gets a second one (a part of B16; all
        of it with `links_every_copy`).
    leaves_escaped : bool
        A master that is back leaves a transaction to the broker to which the slave has sent its last half: an
        END_TRANSACTION of it changes nothing (needs `escapes`).
    flushes_before_answering : bool
        A half is on the disk before its send is answered, and an op message before its END_TRANSACTION is:
        flushDiskType=SYNC_FLUSH, for op messages, too.
    retries_commits : bool
        A commit whose real message could not be stored waits, and is tried again.
    asks_the_old : bool
        A half that is older than fileReservedTime is discarded for it only while nobody can be asked: where it is put
        back, it is stored anew (B45).
    finishes_reading : bool
        A round settles its first half before it looks at its time limit (B29). Beyond the limit it no longer asks
        whether that half is fresh, nor whether op messages run late: it reads them all.
    passes_what_is_gone : bool
        A half in whose place the store gives a later one is passed (B50).
    keeps_pending_files : bool
        Retention keeps the files of halves and op messages that a round may still ask for, and of the halves that an
        END_TRANSACTION may still name (B44, B55).
    corrects_offsets_on_slave : bool
        The store of an acting slave corrects an offset below the lower end of its queue, too (B24).
    """

    heeds_settled_originals: bool = False
    links_every_copy: bool = False
    settles_once: bool = False
    keeps_check_open: bool = False
    counts_sent_checks: bool = False
    discards_instead_of_checking: bool = False
    keeps_progress: bool = False
    flushes_before_saving: bool = False
    clamps_offsets: bool = False
    skips_undecodable_ops: bool = False
    parks_poison: bool = False
    ends_at_failed_put: bool = False
    retries_discards: bool = False
    keeps_failed_ops: bool = False
    flushes_on_stop: bool = False
    awaits_ends_on_stop: bool = False
    keeps_flag: bool = False
    reads_ops_before_escape: bool = False
    insists_on_escape: bool = False
    escapes_once: bool = False
    adopts_slave_offsets: bool = False
    one_immunity: bool = False
    owns_check_times: bool = False
    owns_prepared_offset: bool = False
    ages_from_arrival: bool = False
    distrusts_future: bool = False
    copies_once: bool = False
    leaves_escaped: bool = False
    flushes_before_answering: bool = False
    retries_commits: bool = False
    asks_the_old: bool = False
    finishes_reading: bool = False
    passes_what_is_gone: bool = False
    keeps_pending_files: bool = False
    corrects_offsets_on_slave: bool = False


@dataclass(frozen=True, kw_only=True)
class WrongRepairSwitches:
    """Repairs that were proposed and break something else.

    Attributes
    ----------
    skips_when_ops_are_drained : bool
        When a pull found no op message, the half is looked at again and never checked (PR #8004).
    ages_from_storing : bool
        The age of a half counts from when it or its copy was stored (PR #9641).
    skips_long_immunities : bool
        A half whose immunity is longer than all its checks take is passed over (PR #9321, #9473).
    commits_after_exception : bool
        A round that ends with an exception commits the half offset that it has reached (PR #9523).
    """

    skips_when_ops_are_drained: bool = False
    ages_from_storing: bool = False
    skips_long_immunities: bool = False
    commits_after_exception: bool = False


@dataclass(frozen=True, kw_only=True)
class SearchSwitches:
    """What concerns the search, not the broker.

    Attributes
    ----------
    orders_sends : bool
        Transactions are numbered in the order of their sends: the symmetry between them is used up. Without it every
        numbering is searched, which finds nothing more.
    """

    orders_sends: bool = True


@dataclass(frozen=True, kw_only=True)
class Switches(SearchSwitches, WrongRepairSwitches, RepairSwitches, VersionSwitches):
    """All of them: a profile."""
