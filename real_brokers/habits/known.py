"""The table of habits: what each breaks, what that means to a message, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from real_brokers.habits import habits

if TYPE_CHECKING:
    from collections.abc import Callable

    from real_brokers.habits.habits import Shown
    from real_brokers.habits.stage import HabitStage


@dataclass(frozen=True, slots=True)
class Habit:
    """One habit; the first line of its function's docstring is the story."""

    play: Callable[[HabitStage], Shown]
    title: str
    means: str
    """To a message, and what to do."""
    breaks: tuple[tuple[str, str], ...] = ()
    """Each clause of the specification that it breaks, with the faults of the kept schedule that shows it; none where
    the broker does what it promises."""
    defects: tuple[str, ...] = ()
    takes_checks: bool = True
    """Whether a client that hears no check can't be led through it."""

    @property
    def name(self) -> str:
        """That of its function."""
        return self.play.__name__

    @property
    def story(self) -> str:
        """What happens, in a sentence."""
        return (self.play.__doc__ or "").partition("\n")[0]


HABITS: Final = {
    one.name: one
    for one in (
        Habit(
            habits.hears_no_check, "hears no check",
            "Whatever its producer leaves open uses up `transactionCheckMax` and is discarded. Take another version: "
            "5.0.9 of the Python client reads its stream no more behind the first settings, from a real proxy either.",
            takes_checks=False,
        ),
        Habit(
            habits.sends_again, "sends a half again",
            "The client tries again, the broker has two halves of one message, the commit settles one of them. The "
            "other one is checked; a checker that looks up the order by its key answers commit, and the message is "
            "delivered twice. Both have one message id and the same keys. Let consumers drop what they have had by "
            "the key, or let the client try once (`setMaxAttempts(1)`, `setRetryTimesWhenSendFailed(0)`), and send "
            "anew what failed.",
            (("S1.twin_half", "twin_send"), ("S1.twin_half", "slow_proxy")), ("A39",), takes_checks=False,
        ),
        Habit(
            habits.commits_behind_a_check, "commits behind a check",
            "The check is answered while the local transaction runs, and the commit comes behind it: both are "
            "carried out. Let the checker answer unknown while the local transaction runs, and set "
            "`transactionTimeOut` above what local transactions take.",
            (("S1.after_a_check", "slow_local"), ("S1.after_a_check", "other_proxy")), ("A11", "B60"),
        ),
        Habit(
            habits.answers_twice, "answers a doubled check twice",
            "No client keeps in mind what it has answered. A check is doubled by a network that sends again; up to "
            "5.1.3, the Go client does so itself behind a stream that was lost (rocketmq-clients #1270; the code was "
            "read).",
            (("S1.doubled_request", "duplicate_end"),), ("A13",),
        ),
        Habit(
            habits.hides_a_failed_commit, "hides a failed commit",
            "Who has sent the message believes that it is delivered; it is, behind the next check, if the checker "
            "says commit. By remoting END_TRANSACTION is one-way, so that no client can know. Let nothing rest "
            "on a commit but what the next check repeats.",
            (("L5.end_lost", "lose_end"), ("L5.refused", "other_proxy")), ("A48", "A49"),
        ),
        Habit(
            habits.is_deaf_behind_a_restart, "is deaf behind a restart",
            "Until the broker knows the producer again, each round uses up a check that reaches nobody; after "
            "`transactionCheckMax` of them, 15 by default, the message is discarded. Start such a client anew when its "
            "proxy was started anew, or set that, or `transactionCheckInterval`, so that "
            "all checks together last longer than the client is deaf.",
            (("L2.nobody_to_ask", "restarted_producer"), ("L2.nobody_to_ask", "restart_proxy")), ("A35", "B19"),
        ),
        Habit(
            habits.its_checker_throws, "does not survive a checker that throws",
            "In the clients in bold, checks of all messages reach nobody from then on, use up `transactionCheckMax`, "
            "and the messages are parked in TRANS_CHECK_MAX_TIME_TOPIC, unless the process is started again. Let the "
            "checker catch all that it may throw, and answer unknown.",
        ),
        Habit(
            habits.its_checker_hangs, "lets a checker that hangs hold up all others",
            "In the clients in bold, one thread carries out all checks. While a checker waits, for a database without "
            "a time-out or for another service, checks of all other messages wait behind it, use up "
            "`transactionCheckMax`, and their messages are parked in TRANS_CHECK_MAX_TIME_TOPIC. Give each wait in a "
            "checker a time-out far below `transactionCheckInterval`.",
        ),
    )
}  # fmt: skip
"""By name."""
