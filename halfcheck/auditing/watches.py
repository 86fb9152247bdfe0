"""``halfcheck audit --watch``: looks again and again, until it is stopped or its time is over."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from conformance.golden_stores import golden_path
from document.console import show
from document.parts import Paragraph
from document.words import counted
from files.durations import duration, read_duration
from files.errors import UnwritableFileError
from halfcheck.auditing.brokers import addresses_of
from halfcheck.auditing.options import refuse
from halfcheck.errors import ExitCode
from halfcheck.printing.watching import look_in_words, news_in_words
from halfcheck.watching.memory import USUAL_REMEMBERED, WatchMemory
from halfcheck.watching.metrics import WatchMetrics, served
from halfcheck.watching.news import News, NewsKind
from halfcheck.watching.sources import BrokerSource, GrowingStore
from halfcheck.watching.watch import BrokerWatch
from model_check.cache_folder import cache_folder
from reference.format.errors import StoreError
from reference.format.store_paths import store_paths
from spark_trace_analysis.audit.rules.state import TransactionState
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from halfcheck.auditing.options import AuditOptions, Failing
    from halfcheck.watching.news import Look
    from halfcheck.watching.sources import WatchedSource

_ORDER: Final = (*TransactionState, *NewsKind)
"""The gravest first."""

_A_KIND: Final = 10
"""So many news of one kind are printed of one look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """The options of a watch; times in milliseconds.

    Attributes
    ----------
    lasts_ms
        How long it watches; None until it is stopped.
    folder
        Where the memory of each source is kept; below the cache folder without one.
    """

    interval_ms: int
    lasts_ms: int | None = None
    hanging_ms: int = 600_000
    folder: Path | None = None
    remembered: int = USUAL_REMEMBERED
    metrics_port: int | None = None
    version: str | None = None
    as_json: bool = False


def watch(sources: Sequence[WatchedSource], options: WatchOptions) -> Collection[TransactionState]:
    """Watch until it ends, or Ctrl-C; gives the states that were reported.

    A source that can't be read at the first look is an error; later, it is reported, and asked again at the next look.
    """
    folder = options.folder or cache_folder() / "watch"
    metrics = WatchMetrics(source.name for source in sources)
    reported: set[TransactionState] = set()
    with ExitStack() as stack:
        watches = [
            BrokerWatch(
                source,
                stack.enter_context(
                    WatchMemory(folder / f"{_file_name(source.name)}.sqlite", source.name, options.remembered)
                ),
                options.hanging_ms,
                options.version,
            )
            for source in sources
        ]
        port = stack.enter_context(served(metrics, options.metrics_port))
        if port is not None:
            typer.echo(f"halfcheck: metrics: http://127.0.0.1:{port}/metrics", err=True)
        round_of_looks = _Looks(watches, options, metrics, reported)
        began = time.monotonic()
        number = 0
        try:
            while True:
                round_of_looks.all(is_first=number == 0)
                number += 1
                next_at = began + number * options.interval_ms / 1_000
                if options.lasts_ms is not None and next_at > began + options.lasts_ms / 1_000:
                    break
                late = time.monotonic() - next_at
                if late > 0:  # a look took longer than the interval: the looks that were missed are left out
                    number += int(late / (options.interval_ms / 1_000))
                time.sleep(max(-late, 0))
        except KeyboardInterrupt:
            typer.echo(
                f"halfcheck: stopped after {counted(number, 'look')}; the next watch goes on from here", err=True
            )
    return reported


@dataclass(slots=True)
class _Looks:
    """Looks at each source in turn, and says what was found."""

    watches: Sequence[BrokerWatch]
    options: WatchOptions
    metrics: WatchMetrics
    reported: set[TransactionState]

    def all(self, *, is_first: bool) -> None:
        for watch in self.watches:
            name = watch.source.name
            try:
                look = watch.look()
            except UnwritableFileError:
                raise
            except (WireError, StoreError, OSError) as error:
                if is_first:
                    raise
                if self.metrics.is_reachable(name):
                    self._say([News(name, time.time_ns() // 1_000_000, NewsKind.UNREACHABLE, why=str(error))])
                self.metrics.miss(name)
                continue
            back = [] if is_first or self.metrics.is_reachable(name) else [News(name, look.at_ms, NewsKind.REACHABLE)]
            self.metrics.take(look)
            self._say([*back, *look.news])
            self._say_counts(look)

    def _say(self, news: Sequence[News]) -> None:
        self.reported.update(one.what for one in news if isinstance(one.what, TransactionState))
        if self.options.as_json:
            for one in news:
                print(json.dumps(one.to_json(), ensure_ascii=False), flush=True)
            return
        counts = Counter(one.what for one in news)
        for what, count in sorted(counts.items(), key=lambda one: _ORDER.index(one[0])):
            of_kind = [one for one in news if one.what == what]
            show(news_in_words(one) for one in of_kind[:_A_KIND])
            if count > _A_KIND:
                show([Paragraph(f"and {count - _A_KIND} more {what} (--json lists all)")])

    def _say_counts(self, look: Look) -> None:
        if self.options.as_json:
            print(json.dumps(look.to_json(), ensure_ascii=False), flush=True)
        else:
            show([look_in_words(look)])


def _file_name(source: str) -> str:
    """A name for the file of a source.

    Examples
    --------
    >>> _file_name("10.0.0.5:10911"), _file_name("/data/store")
    ('10.0.0.5_10911', '_data_store')
    """
    return re.sub(r"[^\w.-]+", "_", source)


def watch_asked_for(options: AuditOptions, failing: Failing) -> ExitCode:
    """Look at brokers or a store until the watch ends; the exit code is that of the states that were reported."""
    refuse(
        (
            ("--copy", options.copy), ("--plan", options.plan), ("--yes", options.yes), ("--master", options.master),
            ("--conf", options.conf), ("--work", options.work), ("--out", options.out), *options.files,
            *options.selecting,
        ),
        "a watch reports what is new of all transactions; leave out this option, or --watch",
    )  # fmt: skip
    sources: list[BrokerSource | GrowingStore]
    if options.store_dir is None:
        sources = [BrokerSource(address, options.rate * 1e6) for address in addresses_of(options)]
    else:
        if not isinstance(options.store_dir, Path):
            message = (
                f"STORE_DIR {options.store_dir}: a watch reads a store that grows where it is written: give its path"
            )
            raise typer.BadParameter(message)
        store = golden_path(options.store_dir)
        sources = [
            GrowingStore(store_paths(store, broker_conf=options.broker_conf, log_folders=options.commit_log or ()))
        ]
    wanted = WatchOptions(
        interval_ms=_duration("--watch", options.watch or "", least_ms=1_000),
        lasts_ms=None if options.lasts is None else _duration("--for", options.lasts),
        hanging_ms=_duration("--hanging", options.hanging),
        folder=options.state_dir,
        remembered=options.remember,
        metrics_port=options.metrics_port,
        version=options.version,
        as_json=options.as_json,
    )
    reported = watch(sources, wanted)
    return ExitCode.SAFETY_VIOLATED if set(failing.states) & set(reported) else ExitCode.OK


def _duration(option: str, text: str, least_ms: int = 0) -> int:
    found = read_duration(text)
    if found is None or found < least_ms:
        least = f", {duration(least_ms)} at least" if least_ms else ""
        message = f"{option} {text!r}: expected a length of time such as 30s, 5m or 2h{least}"
        raise typer.BadParameter(message)
    return found
