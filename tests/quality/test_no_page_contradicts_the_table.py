"""Every verdict that the report, the README or a page of docs/ shows is one of the table of verdicts.

A claim is found by the form in which it stands: a cell of the report, a row of a page, a command with its answer. Each
form must be found, and each is seen to fail on a page in which one verdict is another.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest

from halfcheck.options import USUAL_PROFILE
from halfcheck.verdicts.files import VerdictFiles
from html_report.page import render
from model_check.clauses import clause_names, clauses_by_name, name_of
from model_check.finding import Verdict
from model_check.verdicts.among_others import for_any_number
from model_check.world import NO_FAULTS, Environment, Profile, World, single_environments
from tests.html_report.sample_page import TABLE, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spec.language import Property

FOLDER = VerdictFiles().page.parents[2]
CLAUSE = r"[SLR]\d+\.[a-z_]+"
KINDS = ("quiet", "one", "two")
WORDS = {
    "quiet": ("quiet world", "broken in the quiet world"),
    "one": ("one fault", "broken by one fault"),
    "two": ("two faults", "broken by two faults"),
    "undecided": ("not decided", "nothing found breaks it, and it is not decided"),
}


class Claim(NamedTuple):
    """That a clause is violated, after so many steps at the least if a number is given; or that it is not."""

    world: World
    clause: Property
    is_violated: bool
    steps: int | None = None

    @classmethod
    def of(
        cls,
        profile: str,
        faults: Iterable[str],
        instance: str,
        clause: str,
        is_violated: bool,
        steps: int | None = None,
    ) -> Claim:
        return cls(World.of(profile, faults, instance), clauses_by_name()[clause], is_violated, steps)

    def __str__(self) -> str:
        return f"{self.world}: {name_of(self.clause)} {self.is_violated} {self.steps}"


class Set(NamedTuple):
    """A minimal set of faults, with steps and instance."""

    faults: tuple[str, ...]
    depth: int
    instance: str


def truth(world: World, clause: Property) -> int | None:
    """Steps of the shortest violation; None if there is none."""
    entries = TABLE.of(world.profile, world.instance)
    assert entries, f"{world.profile} was not searched in {world.instance.name}"
    found = [
        entries[one].violated.get(clause) for one in (*world.environment.smaller(), world.environment) if one in entries
    ]
    return min((depth for depth in found if depth is not None), default=None)


def is_true(claim: Claim) -> bool:
    depth = truth(claim.world, claim.clause)
    return claim.is_violated == (depth is not None) and claim.steps in (None, depth)


def kind_of(clauses: list[Property], profile: Profile) -> str:
    sizes = [len(one.environment) for clause in clauses for one in TABLE.minimal_sets(profile, clause)]
    holding, undecided = decided(clauses, profile)
    return KINDS[min(sizes)] if sizes else "undecided" if NO_FAULTS in undecided or not holding else "holds"


def decided(clauses: list[Property], profile: Profile) -> tuple[list[Environment], list[Environment]]:
    """In which worlds the clauses hold for any number of transactions, and in which some of them is not decided."""
    found = {one: [for_any_number(profile, one, clause) for clause in clauses] for one in single_environments()}
    undecided = [one for one, verdicts in found.items() if any(v.verdict is Verdict.UNKNOWN for v in verdicts)]
    holding = [one for one, verdicts in found.items() if one not in undecided and any(v.holds for v in verdicts)]
    return holding, undecided


def words_of(clauses: list[Property], profile: Profile) -> tuple[str, str]:
    """What a cell says, and what it is read out as."""
    kind = kind_of(clauses, profile)
    if kind != "holds":
        return WORDS[kind]
    holding, undecided = decided(clauses, profile)
    worlds = "1 world" if len(holding) == 1 else f"{len(holding)} worlds"
    but = f", not decided with {' or '.join(one.name for one in undecided)}" if undecided else ""
    return (
        f"{len(holding)} of {len(holding) + len(undecided)}",
        f"holds for any number of transactions, in runs of any length, in {worlds} with one fault or none{but}",
    )


def clauses_of(property_id: str) -> list[Property]:
    return [clause for clause in TABLE.clauses if clause.identifier == property_id]


# --- the report -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> str:
    return render(replace(full(), audits=(), mutants=(), lockstep=(), simulation=None))


def wrong_cells(report: str) -> list[str]:
    form = (
        r'<a class="takes (\w+)" href="#(\w+)-([^"]+)" aria-label="([^"]+)"[^>]*>'
        r'<svg[^>]*><use href="#sign-(\w+)"/></svg><span class="words">([^<]+)</span>'
    )
    cells = re.findall(form, report)
    assert len(cells) == 16 * len(TABLE.profiles)
    wrong = []
    for kind, property_id, profile, sentence, sign, words in cells:
        expected = kind_of(clauses_of(property_id), Profile.of(profile))
        short, long = words_of(clauses_of(property_id), Profile.of(profile))
        told = sentence.removeprefix(f"{property_id} in {profile}: ").partition(", 1 cause")[0]
        told = re.sub(r", \d+ causes?,.*", "", told)
        if (kind, sign, words, told) != (expected, expected, short, long):
            wrong.append(f"{property_id} in {profile}: {kind}, {sign}, {words}, {told}, not {expected}")
    return wrong


def wrong_clauses(report: str) -> list[str]:
    form = (
        rf'<details class="clause" id="({CLAUSE})-([^"]+)" [^>]*>\s*<summary>\s*<span class="what">'
        r'<span class="takes (\w+)">'
        r'.*?<ul class="sets"[^>]*>(.*?)</ul>\s*<p class="where">The shortest schedule: (\d+) steps'
    )
    shown: dict[tuple[str, str], tuple[str, list[Set], int]] = {}
    for clause, profile, kind, sets, steps in re.findall(form, report, re.DOTALL):
        found = re.findall(r"<li>(.*?) <small>(\d+) steps, ([\w@]+)</small></li>", sets)
        minimal = [Set(tuple(re.findall(r"<code>(\w+)</code>", faults)), int(n), name) for faults, n, name in found]
        shown[clause, profile] = kind, minimal, int(steps)
    form = (
        rf'<span id="({CLAUSE})-([^"]+)"><b>[^<]*</b>'
        r"(?: <small>\((holds in \d+ of \d+ worlds|not decided)\)</small>)?</span>"
    )
    for clause, profile, words in re.findall(form, report):
        shown[clause, profile] = "holds" if words.startswith("holds") else "undecided", [], 0
    form = (
        r'<details class="version" id="(\w+)-([^"]+)"[^>]*>\s*<summary>[^\n]*</summary>\s*'
        r'<p class="as-in">[^\n]*<a href="#\1-([^"]+)">'
    )
    for guarantee, profile, older in re.findall(form, report):
        shown |= {(name_of(one), profile): shown[name_of(one), older] for one in clauses_of(guarantee)}
    wrong = []
    for clause in TABLE.clauses:
        for profile in TABLE.profiles:
            minimal = [
                Set(one.environment, one.depth, one.instance.name) for one in TABLE.minimal_sets(profile, clause)
            ]
            fewest = min((len(one.faults) for one in minimal), default=0)
            depth = min((one.depth for one in minimal if len(one.faults) == fewest), default=0)
            expected, here = (kind_of([clause], profile), minimal, depth), (name_of(clause), profile.name)
            if shown.get(here) != expected:
                wrong.append(f"{' in '.join(here)}: {shown.get(here)}, not {expected}")
    return wrong


def wrong_opening(report: str) -> list[str]:
    opening = report.partition('<p class="lede">')[2].partition("</p>")[0]
    told = dict(re.findall(r'<a href="#in-([^"]+)"><b>(\d+)</b></a>', opening))
    properties = dict.fromkeys(clause.identifier for clause in TABLE.clauses)
    expected = {
        profile.name: str(sum(kind_of(clauses_of(one), profile) == "quiet" for one in properties))
        for profile in TABLE.profiles
        if profile.is_version
    }
    return [] if told == expected else [f"the opening says {told}, not {expected}"]


def searched(report: str) -> Iterator[Claim]:
    form = r'<tbody data-profile="([^"]+)" data-environment="([^"]+)">\s*<tr>\s*<td data-label="Version">(.*?)</tbody>'
    for profile, environment, row in re.findall(form, report, re.DOTALL):
        instance = re.findall(r"<small>([\w@]+)</small>", row)[0]
        violated = dict(re.findall(rf">({CLAUSE})</a> (\d+)", row))
        assert violated
        for clause in clause_names():
            steps = int(violated[clause]) if clause in violated else None
            yield Claim.of(profile, Environment.named(environment), instance, clause, clause in violated, steps)


# --- pages ------------------------------------------------------------------------------------------------------------


def page_of_verdicts(text: str) -> list[str]:
    """What is wrong in the tables of docs/generated/verdicts.md."""
    wrong = []
    sections = dict(re.findall(rf"^### ({CLAUSE})\n(.*?)(?=^##)", text, re.DOTALL | re.MULTILINE))
    assert set(sections) == set(clause_names())
    for name, section in sections.items():
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line[:1] == "|"]
        shown = {
            (profile, () if row[0] == "the quiet world" else tuple(row[0].split(" + ")), *cell.split())
            for row in lines[2:]
            for profile, cell in zip(lines[0][1:], row[1:], strict=True)
            if cell and "not decided" not in row[0]
        }
        expected = {
            (profile.name, environment, str(depth), instance.name)
            for profile in TABLE.profiles
            for environment, depth, instance in TABLE.minimal_sets(profile, clauses_by_name()[name])
        }
        wrong += [f"{name}: {one}" for one in sorted(shown ^ expected)]
    short = re.findall(r"^\| \[([SLR]\d+)\]\(#\w+\) \| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert len(short) == 16
    for property_id, number, cells in short:
        for profile, cell in zip(TABLE.profiles, cells.split(" | "), strict=True):
            kinds = [kind_of([clause], profile) for clause in clauses_of(property_id)]
            counts = [kinds.count(kind) for kind in KINDS]
            expected_cell = " · ".join(map(str, counts)) if any(counts) else ""
            if (int(number), cell.strip()) != (len(kinds), expected_cell):
                wrong.append(f"{property_id} in {profile}: {cell}, not {expected_cell}")
    return wrong


def page_of_defects(text: str) -> Iterator[Claim]:
    """The searches of docs/generated/defects.md: where a clause is violated, and the version in which none is found."""
    form = rf"^\| [AB]\d+ \| ({CLAUSE}) \| (\S+) \| (\S+) \| ([\w@]+) \| (\d+) \| .* \| (\S+): holds \|$"
    for clause, profile, environment, instance, steps, repaired in re.findall(form, text, re.MULTILINE):
        if instance in TABLE.plan and profile in TABLE.profile_names:
            faults = Environment.named(environment.replace(" ", ""))
            yield Claim.of(profile, faults, instance, clause, True, int(steps))
            if repaired in TABLE.profile_names:
                yield Claim.of(repaired, faults, instance, clause, False)


def commands(text: str) -> Iterator[Claim]:
    """Commands of `halfcheck check` with their answers, or with the exit code that the page tells.

    The table says nothing of a version with a switch that is turned.
    """
    form = r"^(?:\$ )?(halfcheck check .*)\n((?:.*\n)*?)(?=```|\$ |halfcheck )"
    for line, answer in re.findall(form, text, re.MULTILINE):
        options = dict(pairwise(shlex.split(line)))
        profile = options.get("--profile", USUAL_PROFILE)
        faults = Environment.named(options.get("--faults", "quiet"))
        if profile not in TABLE.profile_names:
            continue
        for clause, steps, instance in re.findall(
            rf"^({CLAUSE})\b.*?[,(] ?(\d+) steps in ([\w@]+)", answer, re.MULTILINE
        ):
            yield Claim.of(profile, faults, instance, clause, True, int(steps))
        clause, instance = options.get("--property", ""), options.get("--instance", "")
        told = re.search(rf"{clause} (is violated|holds)\b|exits with 12\b", answer or text)
        if re.fullmatch(CLAUSE, clause) and instance and told:
            yield Claim.of(profile, faults, instance, clause, told[1] != "holds")


def titles(text: str) -> Iterator[Claim]:
    """`CLAUSE is violated in VERSION, the quiet world`, the title of a diagram, in some instance of the table."""
    for name, profile, environment in re.findall(rf"({CLAUSE}) is violated in ([\w.]+), ([\w ,]+?)(?=:| -|\.)", text):
        faults = () if environment == "the quiet world" else environment.split(", ")
        worlds = [World.of(profile, faults, instance) for instance in TABLE.instances]
        clause = clauses_by_name()[name]
        yield Claim(next((one for one in worlds if truth(one, clause) is not None), worlds[0]), clause, True)


def markdown() -> dict[str, str]:
    pages = [FOLDER / "README.md", *sorted((FOLDER / "docs").rglob("*.md"))]
    return {page.name: page.read_text(encoding="utf-8") for page in pages}


def wrong_in(place: str, text: str) -> list[str]:
    """What contradicts the table in the report or in a page."""
    if place == "report":
        claims = {f"{claim}" for claim in searched(text) if not is_true(claim)}
        return [*wrong_cells(text), *wrong_clauses(text), *wrong_opening(text), *sorted(claims)]
    found = {f"{place}: {claim}" for form in (commands, titles) for claim in form(text) if not is_true(claim)}
    if place == "defects.md":
        found |= {f"defects.md: {claim}" for claim in page_of_defects(text) if not is_true(claim)}
    return [*(page_of_verdicts(text) if place == "verdicts.md" else ()), *sorted(found)]


as_the_table_is = cache(wrong_in)
"""Of a text that many tests look at, once."""


def wrong_anywhere(report: str, pages: dict[str, str], judge: Callable[[str, str], list[str]]) -> list[str]:
    """Everything that contradicts the table."""
    return [line for place, text in {"report": report, **pages}.items() for line in judge(place, text)]


def test_no_verdict_that_is_shown_anywhere_contradicts_the_table(report: str) -> None:
    assert wrong_anywhere(report, markdown(), as_the_table_is) == []


def test_the_readme_shows_what_the_quiet_world_breaks() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    line = re.findall(r"^of 16 guarantees, the quiet world breaks (.*)$", text, re.MULTILINE)[0]
    properties = dict.fromkeys(clause.identifier for clause in TABLE.clauses)
    broken = {
        profile: sum(kind_of(clauses_of(one), profile) == "quiet" for one in properties)
        for profile in TABLE.profiles
        if profile.is_version
    }
    assert line == ", ".join(f"{number} in {profile}" for profile, number in broken.items())


def test_claims_are_found_in_every_form(report: str) -> None:
    pages = markdown()
    assert len(list(searched(report))) == len(clause_names())
    assert len(list(page_of_defects(pages["defects.md"]))) > 50
    assert {name for name, text in pages.items() if [*commands(text)]} >= {"commands.md", "example-counterexample.md"}
    assert [*titles(pages["example-counterexample.md"])]


@pytest.mark.parametrize(
    ("place", "verdict", "another"),
    [
        ("report", r'class="takes \w+" href="#S1-4\.9\.7"', 'class="takes unbroken" href="#S1-4.9.7"'),
        ("report", r'aria-label="S1 in 4\.9\.7: [\w ]+', 'aria-label="S1 in 4.9.7: nothing found breaks it'),
        ("report", r'(<a href="#in-5\.4\.0"><b>)', r"\g<1>1"),
        ("report", r'<span id="S1\.unexplained-fixed">', "<span>"),
        ("report", r"<li>the quiet world <small>1", "<li>the quiet world <small>9"),
        ("report", r">S1\.immune_half</a> \d", ">S1.unexplained</a> 9"),
        ("verdicts.md", r"\| the quiet world \| \d", "| the quiet world | 99"),
        ("verdicts.md", r"(\| \[S1\]\(#\w+\) \| \d+ \| )\d", r"\g<1>9"),
        ("defects.md", r"(\| S1\.passed_op \| 4\.5\.1 \| \w+ \| \w+ \| )", r"\g<1>9"),
        ("defects.md", r"(\| S1\.passed_op \|.*)4\.9\.7: holds", r"\g<1>4.5.1: holds"),
        ("example-counterexample.md", r"is violated in 5\.3\.3,", "is violated in fixed,"),
        ("commands.md", r"(S1\.immune_half \(B01\)), \d+ steps", r"\g<1>, 7 steps"),
    ],
)
def test_one_verdict_that_is_another_is_noticed(report: str, place: str, verdict: str, another: str) -> None:
    pages = markdown() | {"report": report}
    pages[place], times = re.subn(verdict, another, pages[place], count=1)
    assert times == 1
    assert wrong_anywhere(pages.pop("report"), pages, as_the_table_is) != []


def test_one_row_of_the_table_that_is_another_is_noticed(report: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = TABLE.entries["4.9.7"]["tiny"][NO_FAULTS]
    immune_half = clauses_by_name()["S1.immune_half"]
    other = replace(entry, violated={clause: n for clause, n in entry.violated.items() if clause != immune_half})
    monkeypatch.setitem(TABLE.entries["4.9.7"]["tiny"], NO_FAULTS, other)
    wrong = wrong_anywhere(report, markdown(), wrong_in)
    assert any("S1.immune_half in 4.9.7" in line for line in wrong)
    assert any(line.startswith("defects.md") for line in wrong)
