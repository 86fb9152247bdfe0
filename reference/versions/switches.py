"""The differences between RocketMQ's versions, as named switches; no code asks for a version number.

The first ten change what the half/op/check machinery decides. The others change what a record looks like, how long the
check thread sleeps, what the store answers, or what lies around the machinery: delays, retries, topics, clients.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BrokerRepairs:
    """Repairs that no release has: one a defect of the catalogue, those of the specification under its names."""

    heeds_settled_originals: bool = False
    """A repair of B01: an op message that names a half counts for the copies that know it as their original."""
    links_every_copy: bool = False
    """A copy that is put back for a check knows its original, too (a part of A11)."""
    settles_once: bool = False
    """A repair of A12, A13 and B16: an index of settled transactions, in a file of its own."""
    keeps_check_open: bool = False
    """A repair of B05, B06 and B27: a half is not checked while its op entry is on its way to the round."""
    counts_sent_checks: bool = False
    """A repair of A09 and B19: only a put-back that sends a check counts as one."""
    discards_instead_of_checking: bool = False
    """A repair of A10: a half without checks left is discarded where it would be checked."""
    keeps_progress: bool = False
    """A repair of A08: an exception in a round loses nothing of what it has passed."""
    flushes_before_saving: bool = False
    """A repair of B13: the log is flushed before the offsets are saved."""
    clamps_offsets: bool = False
    """A repair of B14: a start takes no offset beyond the end of its queue."""
    skips_undecodable_ops: bool = False
    """A repair of B17: an op message that cannot be decoded is done when all halves before it were met."""
    ends_at_failed_put: bool = False
    """A repair of B08: a round ends at the first copy that is not stored."""
    keeps_failed_ops: bool = False
    """A repair of B04: what an op message that was not stored names waits for the next one."""
    flushes_on_stop: bool = False
    """A stop writes all that waits in the op batches (a part of B03)."""
    awaits_ends_on_stop: bool = False
    """A repair of B53: a stop first lets the pool of END_TRANSACTION come to its end."""
    reads_ops_before_escape: bool = False
    """A repair of B20: an acting slave reads all op messages before a half escapes."""
    insists_on_escape: bool = False
    """A repair of B21 and B54: no half is given up that cannot escape, and no sleep between two tries interrupted."""
    escapes_once: bool = False
    """A repair of B22: a half that escapes says where it comes from, and a master takes each such half once."""
    one_immunity: bool = False
    """A repair of B25: an immunity is never shorter than the timeout."""
    ages_from_arrival: bool = False
    """A repair of A21 and B27: a half is born when the broker stores it."""
    distrusts_future: bool = False
    """A repair of B28: a half that seems stored in the future is not fresh."""
    copies_once: bool = False
    """A half of which a copy stands further on is passed (a part of B16)."""
    leaves_escaped: bool = False
    """A master that is back leaves a transaction to the broker to which its slave has sent the last half."""
    flushes_before_answering: bool = False
    """A half is flushed before its send is answered, and an op message before its END_TRANSACTION is."""
    retries_commits: bool = False
    """A commit whose real message cannot be stored is tried again."""
    asks_the_old: bool = False
    """A repair of B45: a half is discarded for its age only while nobody can be asked."""
    finishes_reading: bool = False
    """A repair of B29: a round settles its first half before it looks at its time limit."""
    passes_what_is_gone: bool = False
    """A repair of B50: a half in whose place the store gives a later one is passed."""
    keeps_pending_files: bool = False
    """A repair of B44 and B55: retention keeps the files that a round may still ask for."""
    skips_when_ops_are_drained: bool = False
    """A wrong repair (PR #8004): a pull that finds nothing never lets a half be checked."""
    ages_from_storing: bool = False
    """A wrong repair (PR #9641): a copy is born when it is stored."""
    skips_long_immunities: bool = False
    """A wrong repair (PR #9321, #9473): a half with an immunity beyond all its checks is passed over."""
    commits_after_exception: bool = False
    """A wrong repair (PR #9523): a round that ends with an exception commits its offsets."""
    sleeps_while_nothing_waits: bool = False
    """A repair of A17: a queue in which nothing waits does not wake the op batch service."""
    checks_transaction_id: bool = False
    """A repair of B10: the transaction id of END_TRANSACTION must be that of the half."""
    delivers_without_tran_msg: bool = False
    """A repair of B11: TRAN_MSG is taken out before the stored string is made."""
    owns_check_times: bool = False
    """A repair of B26: TRANSACTION_CHECK_TIMES is taken out of what a client sends."""
    erases_truncated_entries: bool = False
    """A repair of B58: a start overwrites the queue entries that point behind the end of the log."""
    owns_consumer_offsets: bool = False
    """A repair of B57: nobody but the check service sets its offsets."""
    proxy_knows_time_of_checks: bool = False
    """A repair of B43: the proxy refuses an immunity that is longer than all checks take."""
    owns_prepared_offset: bool = False
    """A repair of B56: TRAN_PREPARED_QUEUE_OFFSET is taken out of what a client sends."""
    keeps_flag: bool = False
    """A repair of B32: a put-back keeps the flag and the reconsume times."""
    retries_discards: bool = False
    """A repair of B31: a half whose discard record cannot be stored is met again."""
    parks_poison: bool = False
    """A repair of B07: a half whose copy is too long to be stored is discarded."""
    hides_halves_from_light_queues: bool = False
    """A repair of B34: halves and discarded halves are entered in no light queue."""
    delivers_where_readable: bool = False
    """A repair of B33: a commit goes to a queue that consumers read, whatever the half says."""
    keeps_offsets_of_halves: bool = False
    """A repair of B37: the answer to a half names its own offset, not that of its static topic."""
    asks_every_channel: bool = False
    """A repair of B38: whom to ask is looked for among all channels of the group."""
    heeds_stop: bool = False
    """A repair of B42: a round ends when the broker is no master any more."""
    corrects_offsets_on_slave: bool = False
    """A repair of B24: an acting slave follows the store to an offset that there is."""
    counts_each_half_once: bool = False
    """A repair of B46: a half that has left is not subtracted again."""
    reads_op_lists: bool = False
    """A repair of B18: a version that writes one offset an op message reads those of later versions, too."""


@dataclass(frozen=True, slots=True)
class ReleaseSwitches(BrokerRepairs):
    """One version of the broker."""

    marks_op_done_on_hit: bool = False
    """A half found in the removeMap puts its op message on the done list (4.6.0 and later; #1522, #1544)."""
    op_end_commits_offset: bool = False
    """Reading the op queue exactly at its end counts as an illegal offset, so that the op offset is committed there at
    once (up to 4.5.2; #1517, #1544). The half queue's end reads as illegal, too."""
    batches_ops: bool = False
    """Halves are named in op messages by the batch, which a service writes later (5.1.0 and later)."""
    keeps_discarded: bool = False
    """A half that is given up goes to TRANS_CHECK_MAX_TIME_TOPIC (4.5.2 and later; before, it was only logged)."""
    refuses_late_end: bool = False
    """END_TRANSACTION of a half with an immunity is refused beyond it (5.1.1 and later; #6401)."""
    equal_age_is_young: bool = False
    """An age that equals the timeout or the immunity is still young (5.3.4 and later; #9486, #9487)."""
    rewinds_beyond_end: bool = False
    """A read beyond the end of a queue that begins at 0 is sent back to 0, not to the end (up to 4.9.3)."""
    undecodable_throws: bool = False
    """A message that cannot be decoded stays in the pulled list as a null, and the check round dies of it (4.5.1; later
    it is left out of the list)."""
    needs_decodable_half: bool = False
    """A check round dies of a half that cannot be decoded, or for which the store answers nothing, each time (4.6.0 to
    4.9.4, 5.0.0; ``TransactionalMessageServiceImpl#getHalfMsg``); what op messages cannot be decoded is left out."""
    escapes: bool = False
    """A slave that acts for a dead master sends its halves to another one (5.1.0 and later; RIP-32)."""
    joins_round_first: bool = False
    """A stopping broker runs the check service once more, to its end and with no check sent, before its store closes
    (5.3.4 and later)."""
    sleeps_without_ops: bool = False
    """The check thread sleeps after a pull that found no op message (5.1.0 and later)."""
    stores_cluster: bool = False
    stores_region: bool = False
    stores_transaction_id: bool = False
    """The broker adds CLUSTER; MSG_REGION and TRACE_ON; ``__transactionId__`` to a half's properties."""
    creates_unique_key: bool = False
    """The broker gives a message without UNIQ_KEY one (5.0.0 and later)."""
    delivers_real_topic: bool = False
    """A delivered message still carries REAL_TOPIC and REAL_QID (before 5.4.0)."""
    keeps_last_separator: bool = False
    """The properties are stored with their last separator (not from 4.9 to 5.1)."""
    reinserts_wait: bool = False
    """The broker takes WAIT out of a sent message's properties and puts it back as the last (4.9)."""
    keeps_wait_of_light: bool = False
    """A message that is entered in light queues is stored with its WAIT (5.2.0 and later)."""
    has_large_property_map: bool = False
    """The map that the properties are read into has 128 buckets from the beginning, not 16 (5.1.0 and later)."""
    stores_long_topics: bool = False
    """Topics beyond 127 bytes are stored, in records of version 2 (5.1.0 and later)."""
    copies_stale_bytes: bool = False
    """Behind an end-of-file record's first eight bytes follow those of earlier messages (up to 4.9.0)."""
    spells_maped: bool = False
    """The file sizes are ``mapedFileSizeCommitLog`` and ``mapedFileSizeConsumeQueue`` (4.5)."""
    renames_config_files: bool = False
    """A configuration file is written beside and renamed; from 5.1.0 on it is written over (``MixAll#string2File``)."""
    versions_consumer_offsets: bool = False
    """``consumerOffset.json`` has a ``dataVersion`` and a ``groupTopicMap`` (5.0.0 and later)."""
    prints_each_item: bool = False
    """A configuration file has each integer key and each item of a list on a line of its own (5.4.0 and later,
    fastjson 2)."""
    spreads_empty_tables: bool = False
    """An empty table in a configuration file takes three lines (5.4.0 only, whose fastjson is an earlier one)."""
    saves_pull_offsets: bool = False
    """``consumerOffset.json`` has a ``pullOffsetTable`` (5.5.0 only, where it has a getter and is not transient)."""
    counts_order_info: bool = False
    """``consumerOrderInfo.json`` has an ``orderInfoCount`` (5.5.0 and later)."""
    abort_file_content: bytes = b""
    """The content of the file ``abort``: nothing, or, from 5.0.0 on, the process id."""
    decompresses_scanned: bool = False
    """A round decompresses the bodies that it reads, and leaves their flag (up to 4.5.2; #1055, #1569)."""
    drops_scheduled_halves: bool = False
    """The schedule service drops messages of the half topic (4.6.1 and later; #1543, #1626)."""
    has_timer_wheel: bool = False
    """Messages may wait in the timer topic for any time (5.0.0 and later)."""
    guards_retries: bool = False
    """A consumer's retry that still carries TRAN_MSG does not become a half (5.0.0 and later; #1649 in 4.6.1 guards the
    synchronous send only, which nothing uses from 4.7.0 on)."""
    forbids_system_topics: bool = False
    """Clients may not send to the topics of halves, op messages and discarded halves (4.9.4 and later; #3903)."""
    spares_op_queue: bool = False
    """Deleting unused topics leaves the op queue alone (4.9.0 and later; #2133)."""
    names_reasons_of_refusal: bool = False
    """A send that the store does not take is answered with several reasons that there may be (4.8.0 and later; #2334),
    and how full the disk is, of what users may have of it (4.9.2 and later)."""
    measures_whole_records: bool = False
    """``maxMessageSize`` is the limit of a whole record (4.5), not of its body (64 KiB more for the record)."""
    clears_tran_msg: bool = False
    """A committed message loses TRAN_MSG, too late for its stored string unless that is made again (4.6.1 and
    later)."""
    closes_op_service: bool = False
    """A stopping broker lets the op batch service run once more (5.1.4 and later; #7305)."""
    has_light_queues: bool = False
    """A message may be entered in further queues, if the settings allow it (4.9.3 and later)."""
    falls_back_to_busy_channel: bool = False
    """A check goes to a channel that is busy if none is free (4.6.1 and later; #1694)."""
    survives_errors: bool = False
    """An Error in a round does not end the check thread (4.7.0 and later; #1783)."""
    measures_age_once: bool = False
    """A round computes the age of a half once (4.4.0 and later; #544)."""
    checks_run_by_caller: bool = False
    """A check for which the pool has no room is sent by the thread that scans (4.6.0 and later; #1519)."""
    counts_halves: bool = False
    """The broker counts the open halves of each topic, and saves the counts (5.2.0 and later)."""
    counts_halves_only: bool = False
    """The synchronous send counts halves only, as the asynchronous one does (5.3.4 and later; #9750, #9751)."""
    forces_metrics_file: bool = False
    """The file of those counts is forced to the disk (5.3.4 and later; #9412, #9705)."""
    wakes_by_last_write: bool = False
    """The op batch service runs again an interval after the last write of a queue that it passed (5.5.0 and later;
    #10200)."""
    waits_before_saving_counts: bool = False
    """The thread that saves the counts waits at each pass, not only behind a save (5.5.1 and later; #10517)."""
    trusts_what_is_dispatched: bool = False
    """A start after an orderly stop reads no file of the log before the last that was dispatched from, rather than the
    last three (5.3.2 and later)."""
    recovers_few_files: bool = False
    """A start after a crash reads the last ten files of the log at most (5.4.0 and later;
    ``commitLogRecoverMaxNum``)."""
    settles_halves_only: bool = False
    """An op message is written only if what END_TRANSACTION found lies in the half topic (5.4.0 and later;
    ``EndTransactionProcessor#deletePrepareMessage``)."""
    client_wraps_namespace: bool = False
    """``TransactionMQProducer`` puts the namespace before the topic of a half (4.5.2 and later; #1254)."""
    client_clears_delay_level: bool = False
    """``sendMessageInTransaction`` takes the delay level out of a message (4.6.0 and later; #1540)."""
    client_refuses_delays: bool = False
    """It throws for a message with a delay level or a timer, and sends nothing (5.5.0 and later; #9923, #9924)."""
    client_clears_tran_msg: bool = False
    """A consumer that sends a message back by a plain send takes TRAN_MSG out of it (4.6.1 and later; #1648)."""
    lower_end_passes_all: bool = False
    """A queue of which all messages are deleted begins behind them (5.0.0 and later; before, its lower end stays where
    it was; #8753)."""
    tolerates_null_op_pull: bool = False
    """A later pull of op messages that the store does not answer counts as one that found none (5.1.0 and later)."""
    clears_compressed_flag: bool = False
    """What decompresses a body takes the flag away that says compressed (5.3.2 and later)."""
    resumes_as_stored: bool = False
    """A discarded half is resumed with the bytes that are stored (5.5.0 and later; B30)."""
