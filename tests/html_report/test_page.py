"""The page: all that was given is on it, nothing is fetched, and what is empty is left out."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from html_report.data import ReportData
from html_report.page import render, write
from model_check.clauses import clauses_by_name, name_of
from model_check.defects.resemblance import is_repaired
from model_check.verdicts.table import table_of_verdicts
from model_check.world import Profile
from tests.html_report.sample_page import (
    BRIEF,
    CRASH,
    TABLE,
    explanation,
    lockstep,
    mutant,
    verdicts,
)
from tests.model_check.remedies.spelling import FOR_NOBODY, misspelled


class Elements(HTMLParser):
    """All start tags with their attributes, the visible text, and the tags that were left open."""

    VOID = frozenset({"input", "meta", "link", "br", "rect", "line", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.starts: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.starts.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.starts.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words += data


@pytest.fixture(scope="module")
def whole(page: str) -> str:
    """The page as its script makes it: what is packed is put in."""
    (packed,) = re.findall(r'<script type="text/plain" id="packed">([^<]*)</script>', page)
    parts = json.loads(zlib.decompress(b64decode(packed)))
    place = re.compile(r'(<(div|script)[^>]* data-packed="(\d+)"[^>]*>).*?(</\2>)', re.DOTALL)
    return place.sub(lambda match: f"{match[1]}{parts[int(match[3])]}{match[4]}", page).replace(packed, "")


@pytest.fixture(scope="module")
def elements(whole: str) -> Elements:
    return Elements(whole)


def test_each_instance_is_named_with_the_most_faults_that_were_searched_in_it(whole: str) -> None:
    """Three transactions were searched in the quiet world alone."""
    plan = table_of_verdicts().plan
    assert ", ".join(f"{name} ({one.most_faults})" for name, one in plan.items()) + "." in whole
    assert plan["trio"].most_faults == 0 < plan["tiny"].most_faults


def test_a_version_shows_no_defect_that_it_is_rid_of() -> None:
    cells = [cell for row in verdicts().guarantees for cell in row.cells]
    shown = {one.address: one.resembles for cell in cells for one in cell.broken}
    assert shown["S1.immune_half-4.9.7"] == ("B01",)
    assert (shown["S1.passed_op-4.5.1"], shown["S1.passed_op-5.4.0"]) == (("A02",), ())
    assert shown["S1.immune_half-fixed"] == ()
    assert not [
        (address, name)
        for address, names in shown.items()
        for name in names
        if is_repaired(name, Profile.of(address.rpartition("-")[2]).switches)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "What holds & what does not",
        "Of 16 guarantees, so many are broken though nothing goes wrong at all: ",
        "0123abc",
        "make verify",
        "halfcheck check --profile 4.9.7 --instance tiny --faults crash",
        f"S1.immune_half {CRASH.violated[clauses_by_name()['S1.immune_half']]},",
        "123,456",
        "t0 was delivered <twice>",
        "half_length",
        'halfcheck replay --profile 5.3.3 --instance small --steps "send_half t=0 immunity=-1; commit_locally t=0;',
        "5.3.3/late",
        "7F00AA",
        "also parked",
        "halfcheck audit conformance/golden/5.3.3/late",
        "1 store of real brokers with 8 transactions: 1 explained record by record",
        "5.3.3/late ✓ yes 5.3.3 2 duplicate end, 3 late end 318",
        "Accepted by the specification of 5.3.3 with 2 duplicate_end, 3 late_end.",
        "halfcheck diff conformance/golden/5.3.3/late spec:5.3.3",
        "5.3.3 +heeds settled originals transactionCheckMax=14 B01 is repaired event 27 put_back half=18",
        "no op message names its original allowed: pass settled half at half 16",
        "halfcheck diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals",
        "Specification and broker agree on 10,138 steps.",
        "5.3.3 fuzzed ✓ agree 300 10,138 8 of 9 2 of 3 671 of 8,400",
        "halfcheck fuzz --profile 5.3.3 --examples 300 --steps 50 --seed 7",
        "write op batch was never possible",
        "write op batch: never first to fail: 0",
        "1 of 1 mutants killed",
        "Broker: 1 of 1 killed.",
        "op end taken as illegal broker 4.9.7 A02 no op message is found at the end of the queue offsets.op",
        "pull more ops 1,234 0.5 s",
        "halfcheck fuzz --mutants --seed 7",
        "4.200 %",
        "9 events trace 18",
        "S7 – not no event carries the op offset, and which op messages a round has read follows from none",
        "0.667 % 0.363 to 1.223 %",
        "1.000 0.200 0.400 0.467 0.001 4.43",
        "5.3.3 $ quiet small 1,000 250 20,000 1.25 %",
        "5.3.3 $ quiet 77 -9.125",
        "43,210 events",
        "halfcheck simulate --traces 1000 --profile 5.3.3 --instance small --steps 60 --seed 7 --out x",
        "halfcheck analyze x --report y.html",
        "kernels 1.5 s",
        "A verdict holds to its depth.",
    ],
)
def test_what_was_given_can_be_read(elements: Elements, words: str) -> None:
    assert words in " ".join(elements.words.split())


def test_every_element_is_closed(elements: Elements) -> None:
    assert elements.open == []


def test_nothing_is_fetched(whole: str, elements: Elements) -> None:
    for tag, attributes in elements.starts:
        assert tag not in {"iframe", "object", "embed", "base", "img", "image"}
        for name in ("src", "href", "xlink:href", "srcset", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or value == "data:,"
    assert "@import" not in whole
    assert not re.search(r"url\((?!#|[\"']?#)", whole)
    policies = [attributes["content"] for tag, attributes in elements.starts if "http-equiv" in attributes]
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'")
    addresses = set(re.findall(r"https?://[^\"'<>\s)]+", whole))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_no_placeholder_is_left(whole: str) -> None:
    assert not re.search(r"\{\{|\}\}(?!\})\s*<|\{%|\{#|Undefined|None<|NaN", whole)


def test_ids_are_unique_and_links_inside_the_page_lead_somewhere(elements: Elements) -> None:
    ids = [attributes["id"] for _, attributes in elements.starts if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {(attributes["href"] or "")[1:] for tag, attributes in elements.starts if tag == "a"}
    assert targets <= set(ids)


def test_every_number_of_the_opening_sentence_leads_to_what_it_counts(page: str) -> None:
    opening = page.partition('<p class="lede">')[2].partition("</p>")[0]
    versions = {"4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0", "5.5.1"}
    plain = re.sub(r'<a href="#[^"]+"><b>[\d,]+</b></a>', "", opening)
    assert set(re.findall(r"[\d.,]*\d", plain)) == versions
    assert len(re.findall("<a ", opening)) == 14


def test_what_is_folded_is_written_open_and_has_an_address_of_its_own(elements: Elements) -> None:
    folded = [attributes for tag, attributes in elements.starts if tag == "details"]
    assert all("open" in attributes for attributes in folded)
    assert all("id" in attributes or attributes.get("class") == "all-steps" for attributes in folded)
    ids = {attributes["id"] for _, attributes in elements.starts if "id" in attributes}
    assert {f"{name_of(clause)}-{profile}" for clause in TABLE.clauses for profile in TABLE.profiles} <= ids


def test_settings_are_spelled_as_a_broker_reads_them(elements: Elements) -> None:
    """A sentence begins with a capital, and a setting that stands first does not."""
    assert "enableSlaveActingMaster=false" in elements.words
    assert "Make the consumer idempotent" not in elements.words
    assert misspelled(elements.words) == []


def test_what_to_do_is_said_for_the_release_of_the_row(page: str) -> None:
    remedies = re.findall(r'<span class="remedy"><small>What to do</small> (.*?)</span>', page)
    assert len(remedies) > 50
    assert not [said for said in remedies if FOR_NOBODY.search(said.replace("as up to", ""))]


def test_each_shortest_schedule_is_on_the_page_once(elements: Elements) -> None:
    broken = [one for row in verdicts().guarantees for cell in row.cells for one in cell.broken]
    assert {one.schedule for one in broken} == set(verdicts().schedules)
    assert len(broken) > len(verdicts().schedules) > 100
    drawn = sum(attributes.get("class") == "diagram" for _, attributes in elements.starts)
    assert drawn == len(verdicts().schedules) + 1, "and the minimal trace of the simulation"
    for one in broken:
        assert len(verdicts().schedules[one.schedule].events) == one.steps


def test_there_are_ten_plots_whose_marks_say_their_numbers(whole: str, elements: Elements) -> None:
    assert sum(tag == "figure" for tag, _ in elements.starts) == 10 + 2, "and the stores, and the mutants"
    for words in (
        "S1, 5.3.3, quiet: 42 of 1,000 random walks (4.200%; 95 % interval 3.122% to 5.628%), no rate of a real system",
        "5.3.3, quiet: 500 of 1,500 transactions (33.333%) have 1",
        "5.3.3, crash: 42.86% of 700 delivered within 1 ticks",
        "5.3.3, quiet: discard_half 2 times, 0.002 a trace",
    ):
        assert f'aria-label="{words}"' in whole


def test_the_page_has_both_colour_schemes_and_is_small(page: str) -> None:
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    assert len(page.encode()) < 900_000, "with all sections of a real run it is to be below 1.5 MB"


def test_what_is_empty_is_left_out() -> None:
    page = render(ReportData("Nothing yet", (), "make verify"))
    for section in ("verdicts", "guarantees", "audits", "lockstep", "mutants", "simulation", "searches", "notes"):
        assert f'id="{section}"' not in page
        assert f'href="#{section}"' not in page


@pytest.mark.parametrize(("accepted", "words"), [(False, "✗ no"), (None, "? not asked")])
def test_a_store_that_is_not_explained_is_not_counted_as_one(accepted: bool | None, words: str) -> None:
    audit = replace(BRIEF.audits[0], trace=explanation(accepted, {}))
    shown = " ".join(Elements(render(replace(BRIEF, audits=(audit,)))).words.split())
    assert "with 8 transactions: 0 explained" in shown
    assert f"5.3.3/late {words} 5.3.3 – 318" in shown


def test_one_pair_that_differs_is_told_first() -> None:
    runs = (lockstep(agrees=True), lockstep(agrees=False))
    words = " ".join(Elements(render(replace(BRIEF, lockstep=runs))).words.split())
    assert "Specification and broker differ on 20,276 steps" in words
    assert "✗ differ" in words
    assert "Every rule was once the first to be false" in words


def test_a_survivor_is_marked_and_counted() -> None:
    hunts = (mutant("killed", "offsets.op"), mutant("harmless", ""))
    words = " ".join(Elements(render(replace(BRIEF, mutants=hunts))).words.split())
    assert "1 of 2 mutants killed" in words
    assert "Broker: 1 of 2 killed." in words
    assert "✗ survives" in words


def test_the_page_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "deep" / "index.html"
    write(BRIEF, target)
    assert target.read_text(encoding="utf-8").endswith("</html>")
    assert [path.name for path in target.parent.iterdir()] == ["index.html"]
    monkeypatch.setattr("html_report.page.render", lambda _data: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(BRIEF, target)
    assert [path.name for path in target.parent.iterdir()] == ["index.html"]


def test_the_schedule_behind_a_cell_takes_as_few_faults_as_the_cell_says() -> None:
    table = verdicts()
    cells = [cell for row in table.guarantees for cell in row.cells]
    broken = [clause for cell in cells for clause in cell.clauses if clause.minimal]
    assert broken
    for clause in broken:
        shown = table.schedules[clause.schedule]
        assert len(shown.world.environment) == len(clause.minimal[0].environment), clause.address
        assert len(shown.events) == clause.steps, clause.address
