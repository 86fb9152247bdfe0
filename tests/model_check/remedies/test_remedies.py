"""What to do is said for the release that was asked, under names that RocketMQ knows, and a search backs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import clauses_by_name, name_of
from model_check.defects.affected import affects, fixed_in, upgrade_from
from model_check.defects.catalogue import Where, catalogue
from model_check.releases import profile_for
from model_check.remedies.advice import (
    KIND_OF_PROPERTY,
    QUESTIONS,
    Situation,
    advice_on_defects,
    defects_brought,
    parts_for,
    remedies,
    remedy,
    remedy_of,
    upgrade_remark,
)
from model_check.verdicts.table import table_of_verdicts
from model_check.wording.clauses import kinds, meanings
from model_check.wording.sentences import as_sentence
from model_check.world import NO_FAULTS, Environment, Profile
from spec.profiles import VERSIONS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.defects.test_affected import RELEASES
from tests.model_check.remedies.spelling import CLIENT_KEYS, FOR_NOBODY, keys, misspelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.language import Property

TABLE = table_of_verdicts()
DOCS = Path(__file__).parents[3] / "docs"


def said_to(release: str) -> Iterator[tuple[Property, str, Environment]]:
    """Each clause that a release breaks, with what to do about all that breaks it, and under each set of faults."""
    profile = Profile.of(profile_for(release)[0])
    for clause in TRANSACTIONAL_MESSAGES.clauses:
        sets = {one.environment for one in TABLE.minimal_sets(profile, clause)}
        for environment in (*sets, *((Environment.of(set().union(*sets)),) if sets else ())):
            yield clause, remedy(clause, Situation.of(profile, environment, release=release)), environment


# --- for whoever asked ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_something_is_said_for_a_known_release_and_nothing_of_others(release: str) -> None:
    for clause, said, _ in said_to(release):
        is_said = not said.startswith("nothing is needed")
        assert is_said or not any(affects(one, release) for one in clause.resembles), name_of(clause)
        assert not FOR_NOBODY.search(re.sub(r"(as )up to \d[\d.]*", "", said)), f"{name_of(clause)}: {said}"


@pytest.mark.parametrize("release", RELEASES)
def test_nobody_is_told_what_is_for_a_fault_that_was_not_asked(release: str) -> None:
    for clause, said, environment in said_to(release):
        for named in re.findall(r"with ((?:\w+ or )*\w+): ", said):
            assert set(named.split(" or ")) <= set(environment), f"{name_of(clause)}: {said}"


@pytest.mark.parametrize("identifier", [name for name, one in catalogue().items() if one.search is not None])
def test_what_to_do_about_a_defect_speaks_of_its_own_faults(identifier: str) -> None:
    search = catalogue()[identifier].search
    assert search is not None
    for release in (release for release in RELEASES if affects(identifier, release)):
        told = remedy_of(identifier, release)
        for named in re.findall(r"with ((?:\w+ or )*\w+): ", told):
            assert set(named.split(" or ")) <= set(search.world.environment), told


def test_a_release_that_is_not_known_gets_all_with_the_releases_that_it_is_for() -> None:
    said = remedy(clauses_by_name()["S1.late_op"], Situation())
    immunity, before, after, *_ = said.split("; ")
    assert immunity == "leave CHECK_IMMUNITY_TIME_IN_SECONDS out"
    assert before.startswith(
        "up to 5.0.0: raise transactionTimeOut above the slowest local transaction by the longest round"
    )
    assert after.startswith("from 5.1.0 on: ")


def test_a_configuration_is_asked_whether_seconds_were_meant() -> None:
    discarded, profile = clauses_by_name()["S2.commit_after_discard"], Profile.of("5.3.3")
    asked = Situation.of(profile, NO_FAULTS, release="5.1.3", times={"check_interval_ms": 10, "timeout_ms": 6_000})
    said = remedy(discarded, asked)
    assert said.startswith("transactionCheckInterval is in milliseconds, and 10 of them are too short")
    assert "give 10000 if seconds were meant" in said
    usual = Situation.of(profile, NO_FAULTS, times={"check_interval_ms": 30_000, "timeout_ms": 6_000})
    assert "milliseconds" not in remedy(discarded, usual)
    asked = Situation.of(profile, NO_FAULTS, times={"check_interval_ms": 30_000, "timeout_ms": 6})
    assert "give 6000 if seconds were meant" in remedy(clauses_by_name()["S1.late_op"], asked)


def test_every_remedy_and_every_question_is_asked_for() -> None:
    parts = [part for clause in TRANSACTIONAL_MESSAGES.clauses for said in parts_for(clause) for part in said]
    assert {part.when for part in parts} - {""} == set(QUESTIONS)
    used = {(part.say, part.upgrade) for part in parts}
    unused = [name for name, given in remedies().items() if not {(part.say, part.upgrade) for part in given} <= used]
    assert unused == []


# --- upgrades ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_an_upgrade_goes_to_where_the_catalogue_says_that_a_defect_of_the_clause_is_fixed(release: str) -> None:
    for clause, said, environment in said_to(release):
        for target in re.findall(r"(?:upgrade to|or to) (\d+\.\d+\.\d+)", said):
            mended = [i for i in catalogue() if affects(i, release) and target in upgrade_from(i, release)]
            its_own = {i for i in mended if clause.identifier in catalogue()[i].properties}
            left, mine = (
                [one.environment for one in TABLE.minimal_sets(Profile.of(profile_for(name)[0]), clause)]
                for name in (target, release)
            )
            is_gone = any(
                one.is_within(environment) and not any(other.is_within(one) for other in left) for one in mine
            )
            assert mended, f"{name_of(clause)} in {release}: {said}"
            assert its_own or is_gone, f"{name_of(clause)} in {release}: {said}"


@pytest.mark.parametrize("identifier", [i for i in catalogue() if fixed_in(i)])
def test_a_defect_that_a_release_mends_says_to_go_there(identifier: str) -> None:
    """By its clause, or by its own line, in each release that has it; and none that no release mends says so."""
    search = catalogue()[identifier].search
    if search is None:
        told = remedy_of(identifier)
        named = re.findall(r"(?:upgrade|upgrade the \w+ ?\w*) to (\d+\.\d+\.\d+)", told)
        assert set(named) <= set(fixed_in(identifier)), told
        return
    for release in RELEASES:
        if affects(identifier, release):
            told = remedy_of(identifier, release)
            assert f"upgrade to {upgrade_from(identifier, release)[0]} or" in told, f"{release}: {told}"


def test_an_upgrade_that_brings_a_busy_core_says_so() -> None:
    assert "upgrade to 5.5.0 or later, which brings A17 (one core is busy for nothing)" in remedy_of("A16", "5.4.0")
    assert upgrade_remark("5.4.0", "5.5.1") == "which brings A17 (one core is busy for nothing)"
    assert upgrade_remark("5.5.0", "5.5.1") == ""


def test_what_an_upgrade_brings_is_in_the_later_release_and_not_in_the_earlier_one() -> None:
    for before in VERSIONS:
        for after in VERSIONS:
            for one in defects_brought(before, after):
                is_way_back = "back to" in catalogue()[one].affected
                assert is_way_back or (affects(one, after) and not affects(one, before))


def test_each_defect_without_a_search_has_a_line_and_each_guarantee_a_kind_of_harm() -> None:
    assert set(advice_on_defects()) == {name for name, one in catalogue().items() if one.where is not Where.SEARCH}
    assert set(KIND_OF_PROPERTY.values()) <= set(kinds())
    assert {name for one in catalogue().values() for name in one.properties} <= set(KIND_OF_PROPERTY)
    for clause, meaning in meanings().items():
        assert kinds()[meaning.gravity] == meaning.kind, name_of(clause)


# --- names that RocketMQ knows ----------------------------------------------------------------------------------------


def texts() -> Iterator[str]:
    """All that is said of clauses and defects, alone and as the report's sentence."""
    for clause, meaning in meanings().items():
        for release in ("", *VERSIONS):
            said = remedy(clause, Situation(release))
            yield from (said, as_sentence(said), as_sentence(meaning.harm))
    for identifier in catalogue():
        yield from (remedy_of(identifier), as_sentence(remedy_of(identifier)))


def test_settings_are_spelled_as_rocketmq_spells_them_wherever_they_stand() -> None:
    assert len(keys()) > 100
    assert [word for text in texts() for word in misspelled(text)] == []
    pages = [page for page in DOCS.rglob("*.md") if "decisions" not in page.parts]
    capitals = "|".join(f"{key[:1].upper()}{key[1:]}" for key in keys() if key[:1].islower())
    found = {page.name: re.findall(rf"\b(?:{capitals}) ?=", page.read_text(encoding="utf-8")) for page in pages}
    found = {page: wrong for page, wrong in found.items() if wrong}
    assert found == {}


def test_what_looks_like_a_setting_is_one() -> None:
    settings = {*keys(), *CLIENT_KEYS, "gRPC"}
    for text in texts():
        for word in re.findall(r"\b[a-z]+[A-Z][A-Za-z]*\b", text):
            assert word in settings, f"{word} in: {text}"
