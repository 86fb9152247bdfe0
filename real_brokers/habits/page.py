"""``docs/generated/clients.md``: what each client breaks by itself, habit by habit, with the schedule of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Code, Heading, Paragraph, Part, prose, tabulated
from files.writing import write_whole
from model_check.clauses import name_of
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.table import table_file
from model_check.world import Profile
from real_brokers.habits.known import HABITS
from real_brokers.habits.led_clients import LED_CLIENTS
from real_brokers.habits.stage import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from real_brokers.habits.known import Habit
    from real_brokers.habits.led_clients import LedClient
    from real_brokers.habits.seen import SeenHabit

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "clients.md"

_HEAD: Final = f"""\
# What each client breaks by itself

`make client-habits` leads each client before `halfcheck broker --profile {PROFILE}`, with `--grpc-port` where it speaks
gRPC, in virtual time, through one situation a column; that writes this page, too. Nothing else goes wrong there. Bold
is what a message, or who has sent it, suffers by. Each habit has a section below: what it means to a message, what to
do, the shortest schedule by which the specification shows it, and what was seen of each client.

The first four clients speak remoting, the others gRPC. Behind a real proxy the same was seen where
[its own page](behind-a-proxy.md) says so.
"""


def write_page(seen: Mapping[str, SeenHabit], page: Path = PAGE) -> None:
    """Write the page; it appears whole or not at all."""
    write_whole(page, markdown(list(_parts(seen))))


def _parts(seen: Mapping[str, SeenHabit]) -> Iterator[Part]:
    yield from prose(_HEAD)
    columns = [f"[{habit.title}](#{habit.title.replace(' ', '-')})" for habit in HABITS.values()]
    rows = [
        (f"`{led.package}` {led.version}", *(_word(seen.get(f"{habit} {led.name}")) for habit in HABITS))
        for led in LED_CLIENTS.values()
    ]
    yield tabulated("client", *columns, rows=rows)
    for habit in HABITS.values():
        yield from _section(habit, [(led, seen[f"{habit.name} {led.name}"]) for led in LED_CLIENTS.values()
                                    if f"{habit.name} {led.name}" in seen])  # fmt: skip


def _section(habit: Habit, seen: list[tuple[LedClient, SeenHabit]]) -> Iterator[Part]:
    yield Heading(habit.title)
    yield Paragraph(habit.story)
    yield Paragraph(habit.means)
    if habit.breaks:
        clauses = " ".join(
            f"[{clause}](verdicts.md#{clause.lower().replace('.', '')})" for clause in dict(habit.breaks)
        )
        defects = " ".join(f"[{name}](defects.md#{name.lower()})" for name in habit.defects)
        yield Paragraph(f"It breaks {clauses}; {defects} in the catalogue. The shortest schedules:")
        profile = Profile.of(PROFILE)
        yield Code(
            "\n".join(
                f'halfcheck replay {one.world(profile).options} --steps "{one.steps}"' for one in schedules_of(habit)
            )
        )
    else:
        yield Paragraph("The broker does all that it promises: each check was sent.")
    facts = list(dict.fromkeys(fact for _, one in seen for fact, _ in one.facts))
    yield tabulated(
        "client", *facts,
        rows=[(f"`{led.package}` {led.version}", *(dict(one.facts).get(fact, "–") for fact in facts))
              for led, one in seen],
    )  # fmt: skip


def schedules_of(habit: Habit) -> list[MinimalCounterexample]:
    """The shortest schedule of each clause that a habit breaks, of those kept with the table of verdicts."""
    profile = Profile.of(PROFILE)
    kept = read_counterexamples(table_file().with_name("schedules.toml"))[0]
    found = {(name_of(one.clause), one.environment.name): one for one in kept if profile in one.profiles}
    return [found[each] for each in habit.breaks]


def _word(one: SeenHabit | None) -> str:
    if one is None:
        return "–"
    return f"**{one.word}**" if one.breaks else one.word
