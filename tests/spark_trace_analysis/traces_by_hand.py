"""Traces written by hand, each with the events up to its violations: what any way of judging must say of them.

They are of 5.3.3 in the instance ``tiny``: two checks a half, a timeout of two ticks.
"""

from typing import Any

from spec.events import FIELDS

COMMIT, ROLLBACK = 1, 2

Event = tuple[Any, ...]
"""An event's name, its transaction, its outcome and its time, and its other fields in a dictionary.

What is left out at the end is absent: outcome and time 0, the action ``by_hand``, other fields -1.
"""


def fields_of(number: int, step: int, event: Event) -> dict[str, Any]:
    """Each field of an event, as a row of a file has it."""
    plain = [value for value in event if not isinstance(value, dict)]
    others = {name: value for part in event if isinstance(part, dict) for name, value in part.items()}
    absent = dict.fromkeys((field.name for field in FIELDS), -1)
    given = dict(zip(("event", "transaction", "outcome", "time"), plain, strict=False))
    return {**absent, "outcome": 0, "time": 0, "action": "by_hand", "trace": number, "step": step, **given, **others}


def sent(half: int = 0, t: int = 0, time: int = 0) -> Event:
    return ("half_stored", t, 0, time, {"half": half, "action": "send_half"})


def committed(half: int = 0, t: int = 0) -> Event:
    return ("local_outcome", t, COMMIT, {"half": half, "action": "commit_locally"})


def delivered(half: int = 0, t: int = 0) -> Event:
    return ("message_delivered", t, COMMIT, {"half": half})


def settled(half: int = 0, t: int = 0, outcome: int = COMMIT, event: str = "op_buffered", time: int = 0) -> Event:
    return (event, t, outcome, time, {"half": half})


def put_back(half: int, copy: int, checks: int, t: int = 0, event: str = "put_back_for_check", time: int = 0) -> Event:
    return (event, t, 0, time, {"half": half, "copy": copy, "check_times": checks})


def answered(half: int, t: int = 0, outcome: int = COMMIT) -> Event:
    return ("check_answered", t, outcome, {"half": half})


def discarded(half: int, checks: int, t: int = 0, action: str = "discard_half") -> Event:
    return ("half_discarded", t, {"half": half, "check_times": checks, "action": action})


def ended(action: str) -> Event:
    return ("round_ended", -1, {"action": action})


def plain(event: str, action: str = "by_hand", **others: int) -> Event:
    return (event, -1, {"action": action, **others})


WROTE = plain("op_stored", op=0)
TO_THE_END = ended("end_round_at_queue_end")
GOOD = [sent(), committed(), delivered(), settled(), WROTE, plain("time_passed")]
"""Nothing is wrong with it."""

UNKNOWN = ("local_outcome", 0, 3, {"half": 0, "action": "leave_it_unknown"})

FOREIGN = ("local_outcome", 1, COMMIT, {"half": 0, "action": "commit_another_half"})
POISON = discarded(0, 0, action="discard_what_cannot_be_copied")

BY_HAND: tuple[tuple[list[Event], dict[str, int]], ...] = (
    (GOOD, {}),
    ([*GOOD, delivered()], {"S1": 7}),
    ([sent(), committed(), delivered(), sent(1, 1), committed(1, 1), delivered(1, 1)], {}),
    ([sent(), delivered()], {"S3": 2, "S5": 2}),
    ([sent(), committed(), settled(outcome=ROLLBACK), delivered(), delivered()], {"S2": 4, "S1": 5}),
    ([*GOOD[:4], settled(outcome=ROLLBACK, event="op_lost")], {"S2": 5}),
    ([*GOOD[:3], ("half_rolled_back", 0, ROLLBACK)], {"S2": 4}),
    ([*GOOD[:4], settled(1, 1, ROLLBACK)], {}),
    (
        [sent(), committed(), sent(0, 1), ("local_outcome", 0, COMMIT, {"half": 0, "action": "commit_another_half"}),
         settled(0, 1)],
        {"S4": 5},
    ),
    (
        [sent(), committed(), settled(), ("local_outcome", 1, COMMIT, {"half": 0, "action": "commit_another_half"})],
        {"S4": 4},
    ),
    (
        [sent(), committed(), settled(), plain("power_lost"), sent(0, 1),
         ("local_outcome", 0, COMMIT, {"half": 0, "action": "commit_another_half"})],
        {},
    ),
    ([sent(), UNKNOWN, put_back(0, 1, 1), committed(), answered(1), delivered(1), settled(1)], {"S6": 6}),
    (
        [sent(), UNKNOWN, put_back(0, 1, 1), put_back(1, 2, 2), discarded(2, 2), answered(2), committed(),
         delivered(2)],
        {"S2": 8, "S6": 8},
    ),
    ([sent(), committed(), delivered(), settled(), discarded(0, 2)], {"S8": 5, "L2": 5}),
    ([sent(), committed(), delivered(), settled(), discarded(0, 2, action="discard_half_unrecorded")], {"L2": 5}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), put_back(1, 2, 2), discarded(2, 2)], {}),
    (
        [sent(), UNKNOWN, put_back(0, 1, 1, event="put_back_for_immunity"), put_back(1, 2, 2), discarded(2, 2)],
        {"L2": 5},
    ),
    ([sent(), UNKNOWN, put_back(0, 1, 1), discarded(1, 1)], {"L2": 4}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), discarded(1, 1, action="discard_what_cannot_be_copied")], {}),
    ([sent(), committed(), delivered(), settled(time=2), put_back(0, 1, 1, time=3)], {"S9": 5}),
    ([sent(), committed(), delivered(), settled(time=3), put_back(0, 1, 1, time=4)], {}),
    ([sent(), committed(), put_back(0, 1, 1), delivered(), settled(time=1), put_back(1, 2, 2)], {}),
    ([sent(), committed(), delivered(), settled(), plain("crashed")], {"S10": 5}),
    ([sent(), committed(), delivered(), settled(), WROTE, plain("crashed")], {}),
    ([sent(), committed(), delivered(), settled(), plain("op_lost")], {"S10": 5}),
    ([sent(), committed(), delivered(), settled(event="op_lost")], {"S10": 4}),
    ([sent(), committed(), delivered(), settled(), plain("role_changed", "become_slave")], {}),
    ([sent(), committed(), delivered(), settled(), plain("role_changed", "act_for_dead_master")], {"S10": 5}),
    (
        [sent(), UNKNOWN, plain("round_began"), discarded(0, 2, action="discard_half_unrecorded"), TO_THE_END],
        {"L1": 5, "L2": 4},
    ),
    (
        [sent(), UNKNOWN, plain("round_began"), ("half_missed", 0, {"half": 0}), TO_THE_END],
        {"L1": 5},
    ),
    ([sent(), UNKNOWN, plain("round_began"), ("half_missed", 0, {"half": 0}), plain("crashed"), TO_THE_END], {}),
    ([sent(), committed(), plain("round_began"), ("half_missed", 0, {"half": 0}), TO_THE_END], {}),
    (
        [sent(), UNKNOWN, plain("round_began"), ("half_missed", 0, {"half": 0}), ended("abort_at_null_result")],
        {},
    ),
    ([ended("fail_to_begin_round"), ended("fail_to_begin_round")], {"L3": 2}),
    ([ended("fail_to_begin_round"), TO_THE_END, ended("fail_to_begin_round")], {}),
    ([ended("abort_at_null_result"), ended("abort_at_undecodable_half")], {}),
    ([ended("abort_at_null_result"), plain("half_passed", half=0), ended("end_round_at_missed_half")], {}),
    ([sent(), committed(), ("message_lost", 0, {"half": 0, "action": "lose_end"})], {"L5": 3}),
    ([sent(), committed(), delivered(), ("message_lost", 0, {"half": 0, "action": "lose_end"})], {}),
    ([sent(), committed(), ("message_lost", 0, {"half": 0, "action": "lose_check"})], {}),
    ([sent(), committed(), ("end_refused", 0, {"half": 0, "action": "refuse_late_end"})], {"L5": 3}),
    ([sent(), committed(), ("end_refused", 0, {"half": 0, "action": "ignore_repeated_end"})], {}),
    ([sent(), ("local_outcome", 0, ROLLBACK, {"half": 0, "action": "roll_back_unrun"})], {"L5": 2}),
    ([plain("round_began"), plain("ops_pulled")], {"R1": 2}),
    ([WROTE, plain("round_began"), plain("ops_pulled")], {}),
    ([plain("round_began"), ended("spin_at_failed_check")], {"R1": 2}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), ended("spin_at_failed_check")], {}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), plain("offsets_regressed"), put_back(0, 2, 1)], {"R1": 5}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), put_back(1, 2, 2), put_back(2, 3, 2)], {"R1": 5}),
    ([sent(), UNKNOWN, put_back(0, 1, 1), put_back(1, 2, 2), plain("power_lost"), put_back(1, 2, 2)], {}),
    # What no broker writes, and one of the ways once took for something else:
    ([sent(), committed(1), ("message_delivered", 0, COMMIT, {"half": 0, "copy": 2})], {"S5": 3}),
    ([sent(), FOREIGN, ("op_buffered", 0, COMMIT, {"half": 0, "copy": 3})], {"S4": 3}),
    ([sent(), ("op_buffered", 0, ROLLBACK, {"half": 0, "copy": 3}), POISON], {"S8": 3}),
    ([sent(), ("op_lost", 0, COMMIT, {"half": 0, "copy": 4})], {"S10": 2}),
    ([sent(-1), sent(), committed(), ("message_lost", 0, {"half": 0, "action": "lose_end"})], {}),
    ([sent(), put_back(-1, 1, 1)], {}),
    ([sent(), UNKNOWN, ("check_sent", 0, {"half": 0, "action": "pass_over_long_immunity"}), TO_THE_END], {}),
    ([sent(), plain("time_passed", copy=0), settled(), plain("time_passed", copy=0), POISON], {}),
)  # fmt: skip
