"""The habits: each gives what is to be said of a client in a word, whether it breaks something, and what was seen."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from real_brokers.clients.scenario_client import DONE
from real_brokers.patience import comes

if TYPE_CHECKING:
    from real_brokers.habits.stage import HabitStage

_BRIEFLY_SECONDS: Final = 5.0
_AT_ONCE_SECONDS: Final = 10.0
_SETTINGS_SECONDS: Final = 660.0
"""Clients tell their settings every 300 s; Python's finds its stream ended at the first time, and makes a new one that
they go over at the second."""
CHECK_INTERVAL_SECONDS: Final = 30
"""``transactionCheckInterval`` of 5.1.1 and later."""
_SYSTEM_ERROR: Final = 1
_REQUEST_ID: Final = re.compile(r"\[request-id=[^,]+, ")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a client did."""

    word: str
    breaks: bool
    """Whether a message, or who sent it, suffers."""
    facts: dict[str, str]


def hears_no_check(stage: HabitStage) -> Shown:
    """A half is left to be checked."""
    stage.send("left", "leave")
    stage.check(2)
    asked = stage.client.count("checked", "left")
    stage.check_to_the_end()
    facts = {"checks that it has carried out": str(asked), "its message in the end": stage.transaction("left")["state"]}
    return Shown("asked" if asked else "never asked", not asked, facts)


def sends_again(stage: HabitStage) -> Shown:
    """A half is stored, and its send answered SYSTEM_ERROR."""
    stage.controller.fault("refuse_answer", request="SEND_MESSAGE_V2", code=_SYSTEM_ERROR, remark="as ordered", times=1)
    said = stage.send("twin", "commit")
    found = stage.controller.transactions("twin")
    halves = sum(len(one["halves"]) for one in found)
    stage.check(3)
    found = stage.controller.transactions("twin")
    delivered = sum(len(one["deliveries"]) for one in found)
    return _delivered(delivered, {
        "the client says": _in_words(" ".join((said, *stage.client.said("sent", "twin")))),
        "halves": str(halves),
        "unique keys of them": str(len({one["unique_key"] for one in found})),
    })  # fmt: skip


def commits_behind_a_check(stage: HabitStage) -> Shown:
    """A local transaction outlasts its first check, which is answered commit, and commits."""
    sent = stage.begin("late", "late")
    stage.check()
    said = sent.result()
    stage.check()
    return _delivered(stage.count("late", "deliveries"), {"the client says": _in_words(said)})


def answers_twice(stage: HabitStage) -> Shown:
    """One check arrives twice."""
    stage.controller.fault("double_check", times=1)
    stage.send("asked", "leave")
    stage.check()
    comes(lambda: stage.client.count("checked", "asked") > 1, _BRIEFLY_SECONDS)
    stage.check()
    asked = stage.client.count("checked", "asked")
    return _delivered(stage.count("asked", "deliveries"), {"checks that it has carried out": str(asked)})


def hides_a_failed_commit(stage: HabitStage) -> Shown:
    """A commit comes to nothing: the proxy has forgotten the half; by remoting the request gets lost."""
    if stage.speaks_grpc:
        sent = stage.begin("failed", "late")
        stage.controller.round()
        stage.client.wait_for("checked", "failed", "", _AT_ONCE_SECONDS)
        stage.controller.drop_transaction_data()
        said = sent.result()
    else:
        stage.controller.fault("lose_end", times=1)
        said = stage.send("failed", "commit")
    is_hidden = said == DONE
    return Shown("not reported" if is_hidden else "reported", is_hidden, {"the client says": _in_words(said)})


def is_deaf_behind_a_restart(stage: HabitStage) -> Shown:
    """The proxy is started again (by remoting the broker) while a half is pending."""
    stage.send("pending", "leave")
    begun = time.monotonic()
    if stage.speaks_grpc:
        stage.controller.restart_proxy()
    else:
        stage.controller.restart()
    is_known = comes(stage.is_known, _SETTINGS_SECONDS)
    seconds = time.monotonic() - begun
    word = f"known after {round(seconds, -1):.0f} s" if is_known else f"not known after {_SETTINGS_SECONDS:.0f} s"
    if seconds < _AT_ONCE_SECONDS:
        word = "known at once"
    unheard = seconds > CHECK_INTERVAL_SECONDS
    return Shown(word, unheard, {
        "the broker knows the producer": word,
        "checks that reach nobody until then": f"{seconds // CHECK_INTERVAL_SECONDS:.0f}" if is_known else "all",
    })  # fmt: skip


def its_checker_throws(stage: HabitStage) -> Shown:
    """The checker throws; then another message is to be asked for."""
    return _other_behind(stage, "throws")


def its_checker_hangs(stage: HabitStage) -> Shown:
    """The checker does not return; then another message is to be asked for."""
    return _other_behind(stage, "hangs")


def _delivered(times: int, facts: dict[str, str]) -> Shown:
    """A message that all sides commit."""
    return Shown("delivered twice" if times > 1 else "once", times > 1, facts | {"delivered": str(times)})


def _in_words(said: str) -> str:
    """What a client says, without what differs from run to run."""
    return _REQUEST_ID.sub("[", said)


def _other_behind(stage: HabitStage, key: str) -> Shown:
    stage.send(key, "leave")
    stage.controller.round()
    stage.client.wait_for("checked", key, "", _AT_ONCE_SECONDS)
    if comes(lambda: stage.client.has_ended, _BRIEFLY_SECONDS / 5):
        return Shown("its process ends", True, {"its process": "ends"})
    stage.send("other", "leave")
    stage.check(3)
    facts = {
        "its checks that were carried out": str(stage.client.count("checked", key)),
        "checks of the other message": str(stage.client.count("checked", "other")),
    }
    stage.check_to_the_end()
    own, other = stage.transaction(key)["state"], stage.transaction("other")["state"]
    facts |= {"its message in the end": own, "the other message in the end": other}
    return Shown("asked" if other == "delivered" else f"others {other} unasked", other != "delivered", facts)
