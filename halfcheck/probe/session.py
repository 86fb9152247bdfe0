"""One probe of one broker: what it is, and schedule after schedule played and judged."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from halfcheck.probe.judgement import Judgement, explaining, judge
from halfcheck.probe.observed_trace import ProbedTrace
from model_check.trace_validation.observed import EventKind
from model_check.world import Profile
from reference.format.broker_conf import BrokerConf, broker_conf_of
from reference.format.broker_conf import settings as settings_in
from reference.format.system_topics import OP_TOPIC
from spark_trace_analysis.records.transaction_record import parse_op_body
from spec.profiles import VERSIONS
from wire.client.channel import Address, BrokerChannel, RefusedError
from wire.client.queries import end_of_queue, release_and_settings
from wire.errors import WireError
from wire.probe.player import LATE, Done, Operator, Phase, Player
from wire.probe.producers import ProbeProducers
from wire.probe.rhythm import Rhythm, Tempo
from wire.probe.view import Baseline, BrokerView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from halfcheck.probe.schedules import Schedule
    from halfcheck.probe.store_files import SavedOffsets, StoreFiles
    from wire.probe.orders import Order

_TICKS_OF_TIMEOUT: Final = 2
"""``transactionTimeOut`` in ticks, in every instance of the table of verdicts."""
_SECOND: Final = 1_000
_HOUR: Final = 3_600_000
_LAST_RECORD_S: Final = 0.4
"""So long the last request may take to show."""
_A_LOOK_S: Final = 0.2
_LOOKS: Final = 3
"""So often offsets that no round reaches are read before they are believed."""
_LATE_S: Final = 1.0


class UnknownBrokerError(WireError):
    """The broker does not say what it is, or what its settings are."""


@dataclass(frozen=True, slots=True)
class Target:
    """A broker as it tells itself, or as the options say.

    The release is None if what it calls itself is none; `why` says why it is held against this profile.
    """

    address: Address
    release: str | None
    profile: Profile
    why: str
    conf: BrokerConf

    def setting(self, key: str) -> int:
        """A number in ``broker.conf``, or its default."""
        return self.conf.or_default(key, self.release or VERSIONS[-1])

    def tempo(self, tick_ms: int | None = None) -> Tempo:
        """How a schedule's ticks become its milliseconds: two of them are ``transactionTimeOut``."""
        timeout = self.setting("transactionTimeOut")
        return Tempo(
            tick=tick_ms or max(1, math.ceil(timeout / _TICKS_OF_TIMEOUT / _SECOND)) * _SECOND,
            timeout=timeout,
            check_interval=self.setting("transactionCheckInterval"),
            check_max=self.setting("transactionCheckMax"),
            save_interval=self.setting("flushConsumerOffsetInterval"),
            keeping=self.setting("fileReservedTime") * _HOUR,
        )


def identify(address: Address, profile: Profile | None, broker_conf: Path | None) -> Target:
    """Ask a broker what it is.

    Raises
    ------
    NoAnswerError
        It does not answer, or refuses to tell (`RefusedError`) what the options do not.
    UnknownBrokerError
        It does not say its release or its settings, and no option does.
    """
    release, settings = None, None
    with BrokerChannel(address) as channel:
        try:
            release, settings = release_and_settings(channel)
        except RefusedError:
            if profile is None or broker_conf is None:
                raise
    if profile is None and release is None:
        message = f"{address}: the broker does not say which release it is; give --profile"
        raise UnknownBrokerError(message)
    if broker_conf is None and settings is None:
        message = f"{address}: the broker does not tell its settings; give --broker-conf FILE"
        raise UnknownBrokerError(message)
    asked, why = (profile, "") if profile is not None else Profile.standing_for(release or "")
    given = settings or () if broker_conf is None else settings_in(broker_conf)
    return Target(address, release, asked, why, broker_conf_of(given, release or asked.unturned))


@dataclass(frozen=True, slots=True)
class Played:
    """A schedule that was played, and what the specification says of it, or why it is `unfit` to be held against one.

    The orders in `done` were carried out; `missed` is the one that did not come true, if one did not. The releases in
    `also` explain what was written, too. It is settled if all of the probe's own halves are. Of a broker whose store is
    read, `saved` are the offsets in its files, and `differs` says where these hold other records than it gave.
    """

    schedule: Schedule
    done: tuple[Done, ...]
    missed: Order | None
    probed: ProbedTrace
    judgement: Judgement | None
    also: tuple[Profile, ...] = ()
    unfit: str = ""
    is_settled: bool = True
    saved: SavedOffsets | None = None
    differs: tuple[str, ...] = ()

    @property
    def unreached(self) -> str:
        """Why what the schedule's story tells did not happen; empty where it did."""
        turn = self.schedule.turn
        came = next((done for done in self.done if done.order == turn), None)
        if turn is None or (came is not None and came.answer == 0):
            return ""
        return f"{turn}: {'never sent' if came is None else f'answered {came.answer}'}"


class Session:
    """Plays schedules one after the other on a broker; `names` are the topics and groups that it has made there.

    Parameters
    ----------
    beside_others
        Begin though halves are pending.
    operator
        Who can end the broker's process, if somebody can.
    tick_ms
        A tick of the schedules; else half of ``transactionTimeOut``, in whole seconds.
    others
        Profiles that may explain what it does, too, beside the releases.
    say
        Called now and then with how far a schedule is.
    """

    def __init__(
        self,
        target: Target,
        *,
        beside_others: bool = False,
        operator: Operator | None = None,
        tick_ms: int | None = None,
        store: StoreFiles | None = None,
        others: Sequence[Profile] = (),
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.target = target
        self._say = say
        self._store = store
        self.names: list[str] = []
        self._others = [profile for profile in (*Profile.versions(), *others) if profile != target.profile]
        self._tempo = target.tempo(tick_ms)
        self.rhythm = Rhythm(self._tempo.check_interval / _SECOND)
        self._operator = operator
        self._beside_others = beside_others
        self._channel = BrokerChannel(target.address)
        self._ended_at = -math.inf

    @property
    def tempo(self) -> Tempo:
        """How ticks become milliseconds on this broker."""
        return self._tempo

    def close(self) -> None:
        """Wait for the op messages that are still to come, and end the connection."""
        if self._channel.is_open and self._ended_at + self._batch_s > time.monotonic():
            time.sleep(self._ended_at + self._batch_s - time.monotonic())
        self._channel.close()

    def play(self, schedule: Schedule, phase: Phase = LATE, *, asks_others: bool = True) -> Played:
        """Play a schedule, read what was written, judge it, and settle what is left.

        Raises
        ------
        BusyBrokerError
            Others have pending halves.
        NoAnswerError
            The broker does not answer.
        """
        if not self._channel.is_open:
            self._channel = BrokerChannel(self.target.address)
        has_played = bool(self.names)
        producers = (
            ProbeProducers(self.target.address, self.names[0]) if has_played else ProbeProducers(self.target.address)
        )
        self.names = [producers.name]
        view = BrokerView(self._channel, producers.name, self.target.setting("mappedFileSizeCommitLog"))
        self._await_batch(view)
        if not self._beside_others and has_played:
            view.await_quiet(self._tempo.longest_settling())
        view.baseline(beside_others=self._beside_others)
        if schedule.plan.rounds and self.rhythm.seen is None:
            self._feel(view, producers)
        baseline = view.baseline(beside_others=self._beside_others)
        player = Player(view, producers, baseline, self._tempo, self.rhythm, phase, self._operator, self._say)
        is_batch_empty = False
        try:
            player.play(schedule.plan)
            is_all_written = self._await_last_records(view, baseline, producers)
            producers.hear()
            probed, judgement, saved, differs = self._judged(view, baseline, producers, player)
            also = explaining(probed, self._others, self.target.conf) if asks_others and judgement else []
            sent = len(producers.ends)
            is_settled = player.settle(self._tempo.longest_settling())
            is_batch_empty = is_all_written and len(producers.ends) == sent
        finally:
            self._ended_at = -math.inf if is_batch_empty else time.monotonic()
            producers.disconnect()
            self._channel = view.channel
        return Played(
            schedule=schedule,
            done=tuple(player.done),
            missed=player.missed,
            probed=probed,
            judgement=judgement,
            also=tuple(also),
            unfit=probed.unfit,
            is_settled=is_settled,
            saved=saved,
            differs=differs,
        )

    def _judged(
        self, view: BrokerView, baseline: Baseline, producers: ProbeProducers, player: Player
    ) -> tuple[ProbedTrace, Judgement | None, SavedOffsets | None, tuple[str, ...]]:
        """Read all, and judge it; again if nothing but the offsets is refused: their round's copies may be late."""
        timeout, looks = self.target.setting("transactionTimeOut"), 0
        while True:
            # What is saved later may stand behind records that were not read.
            saved = None if self._store is None else self._store.saved()
            snapshot = view.read(baseline)
            probed = ProbedTrace(snapshot, baseline, producers, player.done, timeout, saved)
            judgement = None if probed.unfit else judge(probed, self.target.profile, self.target.conf)
            found, looks = None if judgement is None else judgement.verdict.divergence, looks + 1
            if looks == _LOOKS or found is None or found.event.kind is not EventKind.OFFSETS_SAVED:
                differs = () if self._store is None else self._store.differences(snapshot, probed.keys)
                return probed, judgement, saved, differs
            time.sleep(_LATE_S)

    def _feel(self, view: BrokerView, producers: ProbeProducers) -> None:
        """Learn when rounds come; the op message of the half that showed it may come after its half was discarded."""
        written = end_of_queue(view.channel, OP_TOPIC)
        self.rhythm.feel(view, producers)
        if end_of_queue(view.channel, OP_TOPIC) == written:
            self._ended_at = time.monotonic()
            self._await_batch(view)

    @property
    def _batch_s(self) -> float:
        """How many seconds an END_TRANSACTION may take to its op message, at the longest."""
        is_batched = self.target.profile.switches.batches_ops
        return 2 * self.target.setting("transactionOpBatchInterval") / _SECOND if is_batched else 0.0

    def _await_batch(self, view: BrokerView) -> None:
        """Wait for op messages that are still to come for the schedule before: they name none of its halves."""
        left = self._ended_at + self._batch_s - time.monotonic()
        if left > 0:
            time.sleep(left)
            view.await_quiet(3 * self.rhythm.interval_s)

    def _await_last_records(self, view: BrokerView, baseline: Baseline, producers: ProbeProducers) -> bool:
        """Wait for what the last requests lead to: each that was accepted names its half in an op message once."""
        for sent in producers.halves.values():
            view.await_half(sent.name.queue_offset)
        settled = Counter(end.half.queue_offset for end in producers.ends if not end.code)
        end = time.monotonic() + self._batch_s
        time.sleep(_LAST_RECORD_S)
        while time.monotonic() < end:
            named = Counter(half for record in view.ops(baseline) for half in parse_op_body(record.body) or ())
            if settled <= named:
                return True
            time.sleep(_A_LOOK_S)
        return False
