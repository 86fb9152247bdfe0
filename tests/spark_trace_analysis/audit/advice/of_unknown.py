"""The lines of ``[learn]`` and ``[otherwise]``: what is not known, in a copy and in a broker's own files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fuzz.defects.broker_under_test import TOPIC
from reference.errors import BrokerError
from reference.format.consumer_offsets import NAME
from reference.format.errors import StoreError
from reference.format.record import QueueOffset
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.rules.state import UnknownCause
from tests.spark_trace_analysis.audit.advice.of_states import (
    Story,
    committed,
    decide,
    find_out,
    in_a_skewed_copy,
    undecided,
    wait,
    with_older,
)
from tests.spark_trace_analysis.audit.advice.shop import CONFIG, Shop

if TYPE_CHECKING:
    from tests.spark_trace_analysis.audit.advice.shop import Files

_LOG = f"commitlog/{0:020d}"
_ENTRY_BYTES = 20


def copy_before_an_op_was_written() -> Shop:
    """A copy whose log lacks the op message before it, which the saved op offset has passed."""
    shop = Shop()
    first = shop.half("first")
    shop.under.wait(25)
    shop.half("A")
    earlier = shop.files()
    shop.under.commit(first)
    round_while_it_is_young(shop)
    shop.save()
    return shop.show(with_older("commitlog", earlier, shop.files()))


def round_while_it_is_young(shop: Shop, seconds: int = 5) -> None:
    """Let the round come that is due in some seconds."""
    shop.under.wait(seconds)
    for _ in shop.under.steps(waits=False):
        pass


def copy_before_it_was_put_back() -> Shop:
    """A copy whose log ends before the round that passed it; a young half keeps the saved offset within the queue."""
    shop = undecided()
    shop.under.wait(29)
    shop.half("young")
    earlier = shop.files()
    round_while_it_is_young(shop, 1)
    shop.save()
    return shop.show(with_older("commitlog", earlier, shop.files()))


def damaged_copy() -> Shop:
    """A copy in which its message and its op message are damaged."""
    shop = committed()
    shop.another_round()
    shop.save()
    files = shop.files()
    log = bytearray(files[_LOG])
    for at in (row.at for row in shop.show(files).row("A").history if row.event in ("delivered", "op")):
        log[at + 4] ^= 0x55
    return shop.show({**files, _LOG: bytes(log)})


def without_offsets(shop: Shop) -> Shop:
    """A copy without its saved offsets."""
    return shop.show({name: content for name, content in shop.files().items() if "consumerOffset" not in name})


def settled_by_an_answer() -> Shop:
    """It is delivered by its producer's answer to a check."""
    shop = undecided()
    shop.rounds(2)
    return shop


def copy_with_older_offsets() -> Shop:
    """A copy whose offsets were read before its half was put back."""
    shop = undecided()
    shop.save()
    earlier = shop.files()
    shop.rounds(2)
    return shop.show(with_older("consumerOffset", earlier, shop.files()))


def unreadable(shop: Shop) -> Shop:
    """Its saved offsets, and what was saved before, are zeros."""
    return shop.show({**shop.files(), NAME: bytes(3), f"{NAME}.bak": bytes(3)})


def in_rocksdb(shop: Shop) -> Shop:
    """Its broker keeps the offsets in RocksDB."""
    return shop.show(shop.files(), {0: UnknownCause.OFFSETS_IN_ROCKSDB})


def not_in_its_queue(shop: Shop) -> Shop:
    """Another half has its place in the half queue."""
    return shop.show(shop.files(), {0: UnknownCause.NOT_IN_ITS_QUEUE})


def slave_that_has_passed_it() -> Shop:
    """A slave acted for its master and has gone past it; on the master's disk it waits for its check."""
    shop = undecided()
    return shop.show(of_an_acting_slave(shop))


def of_an_acting_slave(shop: Shop) -> Files:
    """The files of a slave with the log of its master, whose half offset is at the end of the queue."""
    files = shop.files()
    shop.save()
    end = shop.under.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0)
    table = {"offsetTable": {f"{HALF_TOPIC}@{CHECK_GROUP}": {"0": end}}}
    conf = b"brokerRole=SLAVE\nenableSlaveActingMaster=true\n"
    return {**files, NAME: json.dumps(table).encode(), "broker.conf": conf}


# --- a broker's own files ---------------------------------------------------------------------------------------------


def end_of_the_log_lost() -> Shop:
    """A power loss took the copy of its half, but not the saved offset that lies beyond what is left."""
    shop = undecided()
    end = shop.under.broker.message_store.max_phy_offset
    for _ in range(3):
        shop.rounds(answered=False)
    shop.save()
    shop.under.broker.lose_power(end)
    shop.under.start()
    shop.show(shop.files())
    return shop


def set_to_the_end(shop: Shop, *topics: str) -> None:
    """Let the broker start with its offsets of some queues at their ends."""
    store, offsets = shop.under.broker.message_store, shop.under.broker.consumer_offset_manager
    for topic in topics:
        offsets.commit_offset(topic, 0, store.get_max_offset_in_queue(topic, 0))
    shop.under.restart()


def decide_and_set_both_to_the_end(shop: Shop) -> None:
    """Decide by the database, and let rounds begin at the ends of both queues."""
    shop.decide_and_send_again("A")
    set_to_the_end(shop, HALF_TOPIC, OP_TOPIC)
    and_a_new_half(shop)


def set_op_offset_and_wait(shop: Shop) -> None:
    """Let rounds read op messages from the end of their queue, and wait."""
    set_to_the_end(shop, OP_TOPIC)
    wait(shop)


def and_a_new_half(shop: Shop) -> None:
    """Let the END_TRANSACTION of a new half be lost; it goes wrong for the first one, too, if it does for this one."""
    shop.half("new")
    wait(shop)
    if not shop.is_right("new"):
        shop.effects["A"] = -1


def op_lost_with_the_power() -> Shop:
    """A power loss took an op message, but not the saved op offset."""
    shop = Shop()
    first = shop.half("first")
    shop.under.wait(25)
    shop.half("A")
    shop.under.commit(first)
    round_while_it_is_young(shop)
    end = max(record.physical_offset for record in shop.under.stored(OP_TOPIC))
    shop.save()
    shop.under.broker.lose_power(end)
    shop.under.start()
    return shop.show(shop.files())


def copy_of_the_half_damaged() -> Shop:
    """The copy of its half can't be read any more; the broker passes over it."""
    shop = undecided()
    shop.rounds(answered=False)
    files = shop.files()
    (_, copy) = shop.under.stored(HALF_TOPIC)
    shop.under.broker.consumer_offset_manager.commit_offset(HALF_TOPIC, 0, QueueOffset(copy.queue_offset + 1))
    shop.save()
    log = bytearray(files[_LOG])
    log[copy.physical_offset + 4] ^= 0x55
    return shop.show({**shop.files(), _LOG: bytes(log)})


def copy_lost_with_the_power() -> Shop:
    """A power loss took its copy and what a consumer had read, but not the saved offsets."""
    shop = undecided()
    shop.under.send({"KEYS": "plain"})
    end = shop.under.broker.message_store.max_phy_offset
    shop.rounds(answered=False)
    shop.under.send({"KEYS": "plain"})
    shop.under.broker.consumer_offset_manager.commit_offset(TOPIC, 0, QueueOffset(2), "readers")
    shop.save()
    shop.under.broker.lose_power(end)
    shop.under.start()
    return shop.show(shop.files())


def offsets_destroyed() -> Shop:
    """Both files of saved offsets can't be read, and the broker has stopped."""
    shop = undecided()
    shop.save()
    unreadable(shop)
    shop.under.broker.crash()
    for name in (NAME, f"{NAME}.bak"):
        shop.disk.write(name, b"\0\0\0")
    return shop


def start(shop: Shop) -> None:
    """Start the broker, if it can be, and let the rounds come."""
    try:
        shop.under.start()
    except (BrokerError, StoreError):
        return
    wait(shop)


def move_away_and_start(shop: Shop) -> None:
    """Move both files away, start the broker, and let the rounds come."""
    for name in (NAME, f"{NAME}.bak"):
        shop.disk.delete(name)
    start(shop)


def entry_of_another() -> Shop:
    """In its place in the half queue stands the entry of a half that was settled."""
    shop = Shop()
    shop.half("other")
    shop.half("A")
    not_in_its_queue(shop)
    name = f"consumequeue/{HALF_TOPIC}/0/{0:020d}"
    queue = shop.disk.map_file(name, CONFIG.mapped_file_size_consume_queue)
    queue.write(_ENTRY_BYTES, bytes(queue.buffer[:_ENTRY_BYTES]))
    return shop


def put_back_and_not_listed() -> Shop:
    """A round has put back its half, and the half queue's file lacks the copy."""
    shop = undecided()
    shop.save()
    shop.rounds(answered=False)
    shop.under.send({"KEYS": "plain"})
    files = shop.files()
    name = f"consumequeue/{HALF_TOPIC}/0/{0:020d}"
    return shop.show({**files, name: files[name][:_ENTRY_BYTES]})


def master_gone_for_good() -> Shop:
    """A slave acted for its master and gave it up; the master's disk is gone, and the slave is the master now."""
    shop = undecided()
    shown = of_an_acting_slave(shop)
    set_to_the_end(shop, HALF_TOPIC)
    return shop.show(shown)


def without_offsets_either() -> Shop:
    """The same, and there are no saved offsets."""
    shop = put_back_and_not_listed()
    return shop.show({name: content for name, content in shop.shown.items() if "consumerOffset" not in name})


UNKNOWN: Final = {
    ("learn", "half_offset_ahead"): Story(in_a_skewed_copy, find_out, decide),
    ("learn", "op_offset_ahead"): Story(copy_before_an_op_was_written, find_out, decide),
    ("learn", "skewed"): Story(copy_before_it_was_put_back, find_out, decide),
    ("learn", "handed_on"): Story(slave_that_has_passed_it, find_out, decide),
    ("learn", "damaged"): Story(damaged_copy, find_out, decide),
    ("learn", "no_offsets"): Story(lambda: without_offsets(settled_by_an_answer()), find_out, decide),
    ("learn", "passed_already"): Story(copy_with_older_offsets, find_out, decide),
    ("learn", "offsets_unreadable"): Story(lambda: unreadable(undecided()), find_out, decide),
    ("learn", "offsets_in_rocksdb"): Story(lambda: in_rocksdb(undecided()), find_out, decide),
    ("learn", "not_in_its_queue"): Story(lambda: not_in_its_queue(undecided()), find_out, decide),
    ("otherwise", "half_offset_ahead"): Story(end_of_the_log_lost, decide_and_set_both_to_the_end, and_a_new_half),
    ("otherwise", "op_offset_ahead"): Story(op_lost_with_the_power, set_op_offset_and_wait, wait),
    ("otherwise", "skewed"): Story(copy_lost_with_the_power, decide, wait),
    ("otherwise", "handed_on"): Story(master_gone_for_good, decide, wait),
    ("otherwise", "damaged"): Story(copy_of_the_half_damaged, decide, wait),
    ("otherwise", "no_offsets"): Story(without_offsets_either, wait, decide),
    ("otherwise", "passed_already"): Story(put_back_and_not_listed, wait, decide),
    ("otherwise", "offsets_unreadable"): Story(offsets_destroyed, move_away_and_start, start),
    ("otherwise", "offsets_in_rocksdb"): Story(lambda: in_rocksdb(undecided()), wait, decide),
    ("otherwise", "not_in_its_queue"): Story(entry_of_another, decide, wait),
}
