"""The catalogue names what exists: properties, profiles, instances, faults, clauses, steps."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from model_check.defects import page
from model_check.defects.__main__ import questions
from model_check.defects.catalogue import (
    FILES,
    MOST_STATES_IN_TESTS,
    Where,
    _defect,
    catalogue,
    defect_called,
    nearest_ids,
)
from model_check.defects.findings import (
    BROKER_FINDINGS,
    CLASSES_FINDINGS,
    LASSO_FINDINGS,
    SEARCH_FINDINGS,
    BrokerFinding,
    ClassesFinding,
    DefectFinding,
    LassoFinding,
    evidence_of,
    on_classes_in_words,
)
from model_check.errors import BadFile, ModelCheckError
from model_check.world import Profile
from spec.constants import SWITCHES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {name: search for name, _, search in questions()}
PROPERTIES = {f"S{n}" for n in range(1, 11)} | {f"L{n}" for n in range(1, 6)} | {"R1", "M1"}


def test_there_are_58_reported_and_60_latent_defects_in_order() -> None:
    wanted = [f"A{n:02}" for n in range(1, 59)] + [f"B{n:02}" for n in range(1, 61)]
    assert list(catalogue()) == wanted


def test_each_file_holds_one_letter() -> None:
    for file, letter in zip(FILES, "AB", strict=True):
        content = tomllib.loads(resources.files("model_check.defects").joinpath(file).read_text(encoding="utf-8"))
        assert {identifier[0] for identifier in content} == {letter}


@pytest.mark.parametrize("identifier", catalogue())
def test_an_entry_says_what_there_is_to_say(identifier: str) -> None:
    defect = catalogue()[identifier]
    assert set(defect.properties) <= PROPERTIES
    assert defect.properties or identifier == "A57"
    assert defect.evidence
    assert set(defect.evidence) <= {"X", "C", "R"}
    named = "Real brokers of" in defect.mechanism or "real proxy 5.5.0" in defect.mechanism
    assert ("X" in defect.evidence) <= named, "X is derived, but of real brokers and proxies"
    assert defect.mechanism.endswith(".")
    assert len(defect.name) <= 65
    assert bool(defect.why) == (defect.where is not Where.SEARCH), "what no search finds has a reason, and only that"
    assert all(re.fullmatch(r"\d{3,5}|rocketmq-[a-z]+#\d+|[0-9a-f]{10}", issue) for issue in defect.issues)
    assert (identifier[0] == "A") <= bool(defect.issues), "a reported defect has a report"
    assert defect.search is None or defect.where is Where.SEARCH
    for wrong in defect.wrong_repairs:
        assert bool(wrong.why) == (wrong.search is None), "a wrong repair that no search shows has a reason"


FOUND = {
    *("A02", "A03", "A08", "A09", "A10", "A11", "A12", "A13", "A14", "A15", "A16", "A19", "A21", "A35", "A37", "A39"),
    *("A58", "B01", "B02", "B03", "B04", "B05", "B06", "B13", "B14", "B15", "B16", "B17", "B19", "B20", "B21", "B22"),
    *("B25", "B26", "B27", "B28", "B29", "A48", "A49", "B41", "B59", "B60"),
}


def test_what_can_be_found_by_a_search_is() -> None:
    searched = [identifier for identifier, defect in catalogue().items() if defect.search is not None]
    assert set(searched) >= FOUND
    assert len(searched) >= 48
    assert all((defect.where is Where.SEARCH) == (defect.search is not None) for defect in catalogue().values())


@pytest.mark.parametrize("identifier", [i for i, d in catalogue().items() if d.search is not None])
def test_a_defect_that_is_found_says_what_repairs_it_or_why_nothing_in_the_broker_does(identifier: str) -> None:
    defect = catalogue()[identifier]
    assert defect.search is not None
    assert defect.repair.endswith(".")
    assert defect.repair.startswith("None in the broker: ") == (defect.search.repaired_in is None)


@pytest.mark.parametrize("identifier", [i for i, d in catalogue().items() if d.search is not None])
def test_the_repair_that_rids_a_profile_of_a_defect_is_in_the_repaired_profile(identifier: str) -> None:
    defect = catalogue()[identifier]
    assert defect.search is not None
    if defect.search.repaired_in is not None:
        profiles = (defect.search.world.profile, defect.search.repaired_in, Profile.of("fixed"))
        affected, repaired, fixed = (profile.switches for profile in profiles)
        turned = {n for n in SWITCHES if getattr(affected, n) != getattr(repaired, n)}
        assert turned
        assert any(getattr(repaired, name) == getattr(fixed, name) for name in turned)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_search_can_be_asked(name: str) -> None:
    search = QUESTIONS[name]
    actions = {action.name for action in TRANSACTIONAL_MESSAGES.actions}
    for profile in filter(None, (search.world.profile, search.repaired_in, *search.also_in)):
        constants = search.world.in_profile(profile).constants
    assert search.repaired_in is None or search.later_on is None
    assert search.later_on is None or search.later_on.transactions == search.world.instance.transactions
    steps = {str(step) for step in TRANSACTIONAL_MESSAGES.steps(constants)}
    assert search.clause in TRANSACTIONAL_MESSAGES.clauses
    assert search.shows
    assert {one for step in search.shows for one in step.split(" | ")} <= actions | steps
    assert search.world.profile not in search.also_in


@pytest.mark.parametrize("identifier", [i for i, d in catalogue().items() if d.search is not None])
def test_the_clause_that_finds_a_defect_says_that_it_resembles_it(identifier: str) -> None:
    defect = catalogue()[identifier]
    assert defect.search is not None
    assert identifier in defect.search.clause.resembles
    assert defect.search.clause.identifier in defect.properties


def test_what_a_clause_resembles_is_to_be_found_by_a_search() -> None:
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        for identifier in clause.resembles:
            assert catalogue()[identifier].where is Where.SEARCH, f"{clause.name} resembles {identifier}"


def test_each_search_is_on_record_with_two_engines_and_nothing_else_is() -> None:
    findings = SEARCH_FINDINGS.read()
    assert list(findings) == list(QUESTIONS)
    for name, finding in findings.items():
        assert len(finding.engines) >= 2, f"{name} was found in one way only"
        assert bool(finding.repaired) == (QUESTIONS[name].other_world is not None)
        assert ("replay" in finding.engines) <= QUESTIONS[name].takes_long
        assert (finding.states + finding.repaired_states > MOST_STATES_IN_TESTS) == QUESTIONS[name].takes_long


def test_the_page_is_what_the_data_gives() -> None:
    assert page.FILE.read_text(encoding="utf-8") == page.page(
        catalogue(), SEARCH_FINDINGS.read(), BROKER_FINDINGS.read(), LASSO_FINDINGS.read(), CLASSES_FINDINGS.read()
    )


def test_what_counts_the_defects_elsewhere_counts_them_right() -> None:
    folder = page.FILE.parents[2]
    for name, words in {"README.md": "the {} known defects", "docs/index.md": "all {}, what finds each"}.items():
        assert words.format(len(catalogue())) in (folder / name).read_text(encoding="utf-8")


def test_the_page_links_to_the_reports() -> None:
    text = page.page(catalogue(), {}, {}, {}, {})
    assert "[#9500](https://github.com/apache/rocketmq/issues/9500)" in text
    assert "[rocketmq-spring#504](https://github.com/apache/rocketmq-spring/issues/504)" in text
    assert "[0fff4a8d84](https://github.com/apache/rocketmq/commit/0fff4a8d84)" in text
    anchors = re.findall(r"\]\(#([ab]\d\d)\)", text)
    assert anchors == [heading.lower() for heading in re.findall(r"^### (\w+)$", text, re.MULTILINE)]


def test_figures_are_written_whole_and_read_again(tmp_path: Path) -> None:
    findings = {
        "B01": DefectFinding(15, 0.25, 2_115, ("numba", "cpython"), "holds", 2_185, 25),
        "A21 #8004": DefectFinding(8, 0.000004, 9, ("numba", "z3")),
    }
    file = replace(SEARCH_FINDINGS, path=tmp_path / "findings.toml")
    file.write(findings)
    assert file.read() == findings
    assert [path.name for path in tmp_path.iterdir()] == ["findings.toml"]


def test_what_a_broker_has_shown_is_written_whole_and_read_again(tmp_path: Path) -> None:
    findings = {
        "A06": BrokerFinding("It says “no”.", "L3", "4.5.1", "4.9.7", ("4.5.1+x",), "t", (("half offset", "-1", "7"),)),
        "B33": BrokerFinding("x.", "L5", "5.3.3", "5.3.3+y", (), "t", ()),
    }
    file = replace(BROKER_FINDINGS, path=tmp_path / "broker_findings.toml")
    file.write(findings)
    assert file.read() == findings
    assert [path.name for path in tmp_path.iterdir()] == ["broker_findings.toml"]


def test_lassos_are_written_whole_and_read_again(tmp_path: Path) -> None:
    findings = {"A07": LassoFinding(10, 3, 27_303, 27_713, 0.009, ("numba", "networkx"))}
    file = replace(LASSO_FINDINGS, path=tmp_path / "lasso_findings.toml")
    file.write(findings)
    assert file.read() == findings


@pytest.mark.parametrize("identifier", catalogue())
def test_each_defect_was_executed_on_the_real_classes_or_says_why_it_was_only_read(identifier: str) -> None:
    defect, finding = catalogue()[identifier], CLASSES_FINDINGS.read().get(identifier)
    words = on_classes_in_words(defect, finding)
    is_executed = finding is not None and bool(finding.releases)
    if is_executed:
        assert words.startswith("executed on RocketMQ's own classes of ")
    else:
        assert len(words.removeprefix("read only: ")) > 10
    assert ("X" in evidence_of(defect, finding)) == (is_executed or "X" in defect.evidence)
    assert "C" in defect.evidence or is_executed or identifier == "A45", "somebody has read it"
    assert finding is not None or defect.where is Where.OUT_OF_REACH, "what can be asked was asked"


def test_what_was_asked_of_real_classes_is_written_whole_and_read_again(tmp_path: Path) -> None:
    findings = {
        "A17": ClassesFinding("question", (("5.5.0", 1, "0123456789abcdef", ""), ("5.5.1", 1, "0123456789abcdef", ""))),
        "B03": ClassesFinding("schedule", (("5.3.3", 7, "fedcba9876543210", "it has a shutdown"),)),
    }
    file = replace(CLASSES_FINDINGS, path=tmp_path / "classes_findings.toml")
    file.write(findings)
    assert file.read() == findings
    assert [(each.releases, each.reason) for each in findings.values()] == [
        (("5.5.0", "5.5.1"), ""),
        ((), "it has a shutdown"),
    ]


@pytest.mark.parametrize("identifier", [i for i, d in catalogue().items() if d.lasso is not None])
def test_a_lasso_can_be_asked_for(identifier: str) -> None:
    asked = catalogue()[identifier].lasso
    assert asked is not None
    actions = {action.name for action in TRANSACTIONAL_MESSAGES.actions}
    assert asked.response in TRANSACTIONAL_MESSAGES.responses
    assert set(asked.shows) <= actions
    assert asked.vanishes == "" or asked.vanishes.endswith(".")
    assert bool(asked.vanishes) != bool(asked.shows) == (asked.repaired_in is not None)


def test_what_a_response_resembles_is_a_lasso_or_said_to_be_none() -> None:
    for response in TRANSACTIONAL_MESSAGES.responses:
        for identifier in response.resembles:
            assert catalogue()[identifier].lasso is not None, f"{response.name} resembles {identifier}"


def test_a_defect_says_what_finds_it() -> None:
    shown = BROKER_FINDINGS.read()
    found_by = {name: defect.found_by(shown) for name, defect in catalogue().items()}
    assert [found_by[name] for name in ("A02", "A06", "B07", "A47")] == [
        "search",
        "broker",
        "search+broker",
        "out of reach",
    ]


@pytest.mark.parametrize("wanted", ["b01", " B01 ", "B01"])
def test_an_id_may_be_written_small(wanted: str) -> None:
    assert defect_called(wanted).identifier == "B01"


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [
        ("B1", ["B01"]),
        ("A59", ["A58"]),
        ("b99", ["B60"]),
        ("16", ["A16", "B16"]),
        ("", []),
        ("banana", []),
        ("B160", ["B60"]),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest_numbers_and_what_there_is(wanted: str, nearest: list[str]) -> None:
    assert list(nearest_ids(wanted.upper())) == nearest
    with pytest.raises(ModelCheckError) as caught:
        defect_called(wanted)
    told = " or ".join(f"{one} ({catalogue()[one].name})" for one in nearest)
    assert str(caught.value) == (
        f"no defect {wanted!r}; {f'did you mean {told}? There' if nearest else 'there'} are A01–A58 and B01–B60, "
        f"and halfcheck defects lists all {len(catalogue())}"
    )


GOOD = {
    "name": "x",
    "affected": "4.3.0",
    "effect": "x",
    "properties": ["S1"],
    "evidence": ["X"],
    "mechanism": "x.",
    "where": "search",
}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        *(({name: None}, f"{name} is missing") for name in GOOD if name != "where"),
        ({"where": "here"}, "where is 'here', not one of search, broker, out_of_reach"),
        ({"where": None}, "where is None, not one of search, broker, out_of_reach"),
        ({"colour": "red"}, "unknown field 'colour'; there are identifier, name, "),
        ({"search": {"profile": "5.3.3"}}, "search: instance is missing"),
        ({"lasso": {"profile": "5.3.3"}}, "lasso: response is missing"),
        ({"search": {"profle": "5.3.3"}}, "search: unknown field 'profle'; there are profile, "),
        (
            {"search": {"profile": "5.3.3", "instance": "tiny", "clause": "S1.imune_half", "shows": []}},
            "search: no clause 'S1.imune_half'; did you mean S1.immune_half?",
        ),
        (
            {"lasso": {"profile": "5.3.3", "faults": ["crsh"], "response": "P8.halves"}},
            "lasso: no fault 'crsh'; did you mean crash?",
        ),
        ({"wrong_repairs": [{"source": "#1"}]}, "wrong repair 1: proposal is missing"),
    ],
)
def test_a_bad_entry_is_named_with_its_file_its_id_and_its_field(changes: dict[str, object], complaint: str) -> None:
    assert _defect("latent.toml: B50", "B50", GOOD).name == "x"
    given = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(BadFile) as caught:
        _defect("latent.toml: B50", "B50", given)
    assert str(caught.value).startswith(f"latent.toml: B50: {complaint}")
