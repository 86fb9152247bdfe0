"""What a sweep is asked, from the options to the answer on the console, as JSON and as files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import typer

from document.console import show
from files.temporary_folder import temporary_folder
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import names_in, print_json
from halfcheck.printing.progress import counting_bar, resumable
from halfcheck.printing.what_if import remarks_on
from halfcheck.sweeping.in_words import parts
from halfcheck.sweeping.replication_files import ReplicationFiles
from traffic.simulation.replications import number_of_replications
from traffic.sweep.points import AsGiven, SweepPoint, ignored_by, points_of, values_of
from traffic.sweep.sweep_answer import SweepAnswer
from traffic.sweep.swept_setting import SweptSetting
from traffic.workload.reading import tables_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reference.format.java_properties import Setting
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.sweep.sweep_answer import SweptAnswer

USUAL_TRANSACTIONS: Final = 100_000
PAGE: Final = "index.html"
_ALL: Final = "all"
_FIXED: Final = "fixed"


@dataclass(frozen=True)
class AskedSweep:
    """The options of a sweep.

    Attributes
    ----------
    swept
        Texts ``NAME=VALUES``; none where releases alone are compared.
    points
        Of a Latin hypercube; None for each value with each other one.
    releases
        Names with commas, or ``all``.
    transactions
        To simulate for each point.
    replications
        Of each point; None for :func:`traffic.simulation.replications.number_of_replications`.
    """

    file: Path | None
    workload: Path
    swept: tuple[str, ...]
    points: int | None
    releases: str
    transactions: int | None
    replications: int | None
    seed: int

    def answer(
        self,
        broker_of: Callable[[Path | None, str, Iterable[Setting]], SimulatedBroker],
        master: str,
        conf: list[str] | None,
        out: Path | None,
        *,
        as_json: bool,
    ) -> ExitCode:
        """Simulate, print and write the answer; raises as :meth:`simulated`."""
        answer = self.simulated(broker_of, master, conf, out, tells_progress=not as_json)
        bounding = min(answer.points, key=_check_intervals)
        point, runs = bounding.point, len(bounding.answer.replications)
        remarks = (
            *ignored_by(answer.settings, map(_release, answer.releases)),
            *remarks_on(bounding.answer, point.workload, point.broker.settings, runs),
        )
        for remark in remarks:
            typer.echo(f"halfcheck: {remark}", err=True)
        content = {"workload": point.workload.name, "seed": self.seed, **answer.to_json()}
        if out is not None:
            self._write(out, content, answer, remarks)
        if as_json:
            print_json(content)
        else:
            show(parts(answer))
            if out is not None:
                print(f"page: {out / PAGE}")
        return ExitCode.OK

    def simulated(
        self,
        broker_of: Callable[[Path | None, str, Iterable[Setting]], SimulatedBroker],
        master: str,
        conf: list[str] | None,
        out: Path | None,
        *,
        tells_progress: bool,
    ) -> SweepAnswer:
        """Simulate what is not yet in the folder.

        Raises
        ------
        TrafficError, CommandLineError, ModelCheckError, BrokenConfigError
            Something of what is asked can't be.
        TraceAnalysisError, OSError
            Spark gave up, or a file can't be written; what is finished is kept where there is an ``--out``.
        """
        transactions = self.transactions or USUAL_TRANSACTIONS
        if self.points is not None and not self.swept:
            message = f"--points {self.points}: there is nothing to sweep over; give --sweep NAME=LOW..HIGH"
            raise CommandLineError(message)
        if out is None and not master.startswith("local"):
            message = f"--master {master}: give --out DIR, a folder that all machines see under the same path"
            raise CommandLineError(message)
        settings = tuple(SweptSetting.of(text) for text in self.swept)
        points = self._points(settings, broker_of)
        yours = points[0]  # its number is that of all points, and stays when others are added
        number = number_of_replications(self.replications, yours.broker, yours.workload, transactions)
        runs = [one for point in points for one in point.replications(self.seed, transactions, number)]
        with _folder(out) as folder:
            files = ReplicationFiles(folder / "runs", _by_replication(runs, number))
            if not files.is_complete:
                self._simulate(files, master, conf, is_kept=out is not None, wanted=tells_progress)
            counted = _by_point(files.read(), len(points))
        return SweepAnswer(settings, points, counted)

    def _points(
        self,
        settings: tuple[SweptSetting, ...],
        broker_of: Callable[[Path | None, str, Iterable[Setting]], SimulatedBroker],
    ) -> list[SweepPoint]:
        names = self._releases()

        @cache
        def broker(release: str, more: tuple[Setting, ...]) -> SimulatedBroker:
            return broker_of(self.file, release, more)

        table = tables_in(self.workload)
        given = AsGiven(names, lambda release, more: broker(release, tuple(more)), table, self.workload)
        values = values_of(settings, self.points, self.seed, len(names)) if settings else []
        return points_of(settings, values, given)

    def _releases(self) -> tuple[str, ...]:
        from traffic.simulation.simulated_broker import RELEASES

        names = tuple(dict.fromkeys(names_in(self.releases)))
        if not names:
            message = f"--releases: expected names with commas such as 4.9.7,5.5.1,{_FIXED}, or {_ALL}"
            raise CommandLineError(message)
        return (*RELEASES, _FIXED) if names == (_ALL,) else names

    def _simulate(
        self, files: ReplicationFiles, master: str, conf: list[str] | None, *, is_kept: bool, wanted: bool
    ) -> None:
        from spark_trace_analysis.cluster.session import spark_session

        with (
            resumable(files.count_finished if is_kept else lambda: 0, "simulation"),
            counting_bar(
                "simulating", "{task.completed:,} of {task.total:,} simulations", "TimeRemainingColumn"
            ) as bar,
            spark_session(master, conf=conf or ()) as spark,
        ):
            files.make(spark, bar if wanted else None)

    def _write(self, out: Path, content: dict[str, Any], answer: SweepAnswer, remarks: Iterable[str]) -> None:
        from files.writing import write_whole
        from html_report.sweep_page import write_sweep_page

        write_whole(out / "sweep.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        title = f"What if: {answer.yours.point.workload.name}"
        write_sweep_page(title, list(parts(answer)), answer, tuple(remarks), out / PAGE)


def _release(name: str) -> str:
    """The release whose keys a version reads."""
    from halfcheck.options import USUAL_PROFILE

    return USUAL_PROFILE if name == _FIXED else name


def _check_intervals(point: SweptAnswer) -> float:
    """How many check intervals the runs of a point last: those of the one with the fewest bound the answer."""
    return point.answer.total.arriving_ms / point.point.broker.settings.transaction_check_interval_ms


def _folder(out: Path | None) -> AbstractContextManager[Path]:
    from contextlib import nullcontext

    return temporary_folder() if out is None else nullcontext(out)


def _by_replication(runs: list[Any], replications: int) -> list[Any]:
    """The first replication of all points, then the second ones: what is finished early says something of all."""
    return [runs[place] for number in range(replications) for place in range(number, len(runs), replications)]


def _by_point(counted: list[Any], points: int) -> list[list[Any]]:
    """What :func:`_by_replication` has put in order, by point again."""
    return [counted[place::points] for place in range(points)]
