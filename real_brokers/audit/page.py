"""``docs/generated/audited-brokers.md``: what audits over the network and offline have said of the same moments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, List, Paragraph, Part, prose, tabulated
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from real_brokers.audit.seen import SeenCluster, SeenRun

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "audited-brokers.md"

_HEAD: Final = """\
# Real brokers, audited over the network

`make audit-real` leads real brokers through scenarios and audits each at three moments of its run and at the end:
[over the network](../audit.md#a-running-broker), and offline, from its folder. That writes this page, too. At a moment
the broker is stopped behind the reading (SIGSTOP) and its folder is copied; the log of that copy is cut where the
reading ended, and the check service's offsets are those that were read. At the end the broker is shut down, and its
whole folder is audited with the offsets that it has saved.

Compared are the rows of all transactions, field by field with their histories, the counts, the damage, and the
specification's verdict. The number of records is not: a network gives those of the topics of transactions only.

A forecast is the time of a pending half's next check, or of its discard, as a moment gave it. It is held against what
the store shows at the end, unless the half was answered before or the broker was killed. Rounds come every 3 s in the
first three scenarios, every 10 s in the others, and not every 30 or 60. A round that has read op messages sleeps a
second (5.1.0 and later), which nobody can foretell of answers to come. A discard is foretold in the middle of the two
rounds that may do it. It is not always within an interval: in an earlier run of 5.3.3 `mixed`, on a busy machine, five
discards came 1.04 intervals off.
"""

_OF_RUST: Final = """\
## A broker of another make

[rocketmq-rust](rust-broker.md) is led through seven transactions: two are settled at once, two at their first check,
one is committed twice, two are never answered. Its store is read as RocketMQ's, and the rows are the same both ways.
What differs is the specification's verdict alone: the `broker.conf` beside its folder has the settings that it does not
tell over the network, and with the defaults its op messages come too soon. The audit over the network says of it:
"""

_OF_CLUSTERS: Final = """\
## Two masters with slaves, one of which goes away

Two masters with a slave each under one name server, asked for as `halfcheck audit --namesrv NS --cluster C` does. 24
halves are sent to both masters in turn: committed, rolled back, committed at the first check, and left open. One
master's slave is stopped (SIGTERM); then the other master is killed (SIGKILL), once its slave has its whole log, and
started again; then what is open is committed by the answers to checks. At each moment the audit of each broker that the
name server gives is held against that broker's own folder, as above; and that of the slave, when its master is gone,
against the folder which this master has left.

`two_masters` has RocketMQ's defaults, `two_masters_acting` sets `enableSlaveActingMaster=true` in all four brokers,
`two_masters_escaping` `enableRemoteEscape=true` besides. An acting slave was left alone until it had gone past all
halves.
"""


def write_page(seen: Mapping[str, SeenRun], clusters: Mapping[str, SeenCluster], page: Path = PAGE) -> None:
    """Write the page; it appears whole or not at all."""
    parts = [*_parts(list(seen.values())), *_of_clusters(list(clusters.values()))]
    write_whole(page, markdown(parts))


def _parts(seen: list[SeenRun]) -> Iterator[Part]:
    yield from prose(_HEAD)
    held, missed = sum(one.checks + one.discards for one in seen), sum(len(one.misses) for one in seen)
    yield Paragraph(
        f"In all {sum(one.compared for one in seen):,} rows of {len(seen)} runs were compared, and "
        f"{sum(len(one.differences) for one in seen):,} things differ. {held:,} forecasts of "
        f"{sum(one.halves for one in seen):,} halves were held, and {held - missed:,} came within one check interval."
    )
    yield tabulated(
        "release", "scenario", "rows compared", "differences", "halves", "checks", "discards", "missed",
        "farthest check", "farthest discard",
        rows=[
            (
                one.release, f"`{one.scenario}`", f"{one.compared:,}", str(len(one.differences)), str(one.halves),
                str(one.checks), str(one.discards), str(len(one.misses)),
                _intervals(one.checks, one.farthest_check), _intervals(one.discards, one.farthest_discard),
            )
            for one in seen
        ],
    )  # fmt: skip
    yield Paragraph(
        "Halves are those of which some forecast was held. The last two columns are in check intervals: how far off "
        "the one was that was farthest off."
    )
    differing = [(one, each) for one in seen for each in one.differences]
    if differing:
        yield Heading("What differs")
        yield tabulated(
            "run", "moment", "what", "over the network", "offline",
            rows=[(one.name, *each) for one, each in differing],
        )  # fmt: skip
    missed_ones = [(one.name, each) for one in seen for each in one.misses]
    if missed_ones:
        yield Heading("What was missed")
        yield tabulated("run", "forecast", rows=missed_ones)

    yield from prose(_OF_RUST)
    yield List(tuple(line for one in seen for line in one.said))


def _intervals(held: int, farthest: float) -> str:
    return f"{farthest:.2f}" if held else "–"


def _of_clusters(seen: list[SeenCluster]) -> Iterator[Part]:
    yield from prose(_OF_CLUSTERS)
    yield tabulated(
        "run", "moment", "broker", "role", "transactions", "in each state", "differs from its folder",
        rows=[
            (one.name, moment, broker, role, str(count), states, str(_differing(one, moment, broker)))
            for one in seen
            for moment, broker, role, count, states in one.audited
        ],
    )  # fmt: skip
    differing = [(one, each) for one in seen for each in one.differences]
    if differing:
        yield Heading("What differs from a broker's own folder", 3)
        yield tabulated(
            "run", "moment", "broker", "what", "over the network", "offline",
            rows=[(one.name, *each) for one, each in differing],
        )  # fmt: skip
    yield Heading("The slave beside what its master has left", 3)
    yield tabulated(
        "run", "moment", "what differs", "the slave, over the network", "the master's folder, offline",
        rows=[(one.name, *each) for one in seen for each in one.of_left],
    )  # fmt: skip
    damage: dict[tuple[str, str, str], list[str]] = {}
    for one in seen:
        for moment, broker, text in one.damage:
            damage.setdefault((one.name, moment, broker), []).append(text)
    if damage:
        yield Heading("What both ways list as damage", 3)
        yield tabulated(
            "run", "moment", "broker", "pieces", "the first of them",
            rows=[(*where, str(len(texts)), texts[0]) for where, texts in damage.items()],
        )  # fmt: skip
        yield Paragraph(
            "Halves that were handed on to several queues were taken for damage in such a run; now they are not, as "
            "the exit code of the command at the same moments shows below, or a later run."
        )
    yield Heading("What two brokers have", 3)
    yield Paragraph(
        "An audit judges each broker by itself. A transaction that an acting slave has handed on is at two of them, "
        "and what both deliver is delivered at each: only who compares the answers sees it."
    )
    yield tabulated(
        "run", "moment", "transactions of more than one broker", "delivered by more than one",
        rows=[
            (one.name, moment, str(there), str(both))
            for one in seen
            for moment, there, both in one.in_both
            if there
        ],
    )  # fmt: skip
    yield Paragraph("Besides the answers the command says, on stderr:")
    yield List(tuple(sorted({f"{moment}: {line}" for one in seen for moment, line in one.said})))


def _differing(one: SeenCluster, moment: str, broker: str) -> int:
    return sum(each[:2] == (moment, broker) for each in one.differences)
