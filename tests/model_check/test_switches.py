"""The record of each switch: what its entry says, where it is read, and that its repairs mend what they say."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from halfcheck.app import run
from model_check.check import check
from model_check.defects.catalogue import catalogue
from model_check.defects.switch_effects import unshown_claims
from model_check.errors import ModelCheckError
from model_check.finding import Holds
from model_check.question import Question
from model_check.switches import KINDS, switch_called, switch_records, turned_in_vain
from model_check.world import Profile
from spec.constants import SWITCHES
from spec.profiles import PROFILES

REPAIRED_BY_ANOTHER = [
    pytest.param(identifier, profile, id=f"{identifier}-{profile}")
    for identifier, defect in catalogue().items()
    if defect.search is not None
    for profile in defect.search.also_repaired_in
]
"""The repairs that the search of the defect does not ask about, which `test_defects.py` does."""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_every_switch_has_an_entry_that_says_something() -> None:
    assert set(switch_records()) == set(SWITCHES)
    for record in switch_records().values():
        assert record.says.endswith("."), record.name
        assert record.kind in KINDS
        assert record.readers, f"{record.name} is read nowhere"
        assert set(record.needs) <= set(SWITCHES), record.name
        assert set(record.defects) <= set(catalogue()), record.name
        asked = (record.name, *record.needs) if record.kind == "version" else (record.name,)
        on_in = tuple(name for name, on in PROFILES.items() if all(getattr(on, one) for one in asked))
        assert tuple(map(str, record.profiles)) == on_in
    older, newer = Profile.of("5.3.3"), Profile.of("5.4.0")
    assert switch_called("batch_thread_oversleeps").profiles == (older, newer), "it needs batches_ops"


def test_every_switch_that_is_about_the_broker_names_the_java_that_it_models() -> None:
    for record in switch_records().values():
        assert record.java, record.name
        assert all(re.fullmatch(r"[A-Z]\w+(\.\w+)?(#[a-z]\w+)?", one) for one in record.java), record.java


def test_the_record_of_a_repair() -> None:
    record = switch_called("heeds_settled_originals")
    assert (record.kind, record.defects, record.needs) == ("repair", ("B01",), ())
    assert record.profiles == (Profile.of("fixed"),)
    assert record.says.startswith(
        "An op message that names a half counts for the copies that know it as their original"
    )
    assert "TransactionalMessageServiceImpl#checkPrepareQueueOffset" in record.java
    assert "check_round.pass_half_of_settled_original" in [reader.function for reader in record.readers]
    assert switch_called("links_every_copy").needs == ("heeds_settled_originals",)
    assert switch_called("links_every_copy").defects == (), "it mends a part of A11"
    assert record.to_json()["java"] == list(record.java)


def test_what_a_switch_is_turned_to_although_it_changes_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["check", "--instance", "tiny", "--property", "S4", "--engine", "cpython", "--max-states", "10"]
    run([*asked, "--profile", "5.4.0-settles_once"])
    assert capsys.readouterr().err == "halfcheck: 5.4.0-settles_once: settles_once is off in 5.4.0 anyway\n"
    run([*asked, "--profile", "5.4.0+settles_once"])
    assert capsys.readouterr().err == ""
    every = "".join(f"{sign}{name}" for sign in "+-" for name in switch_records())
    assert len(turned_in_vain(Profile.of(f"fixed{every}"))) == sum(not on for on in asdict(PROFILES["fixed"]).values())


def test_an_unknown_switch_is_answered_with_the_nearest() -> None:
    with pytest.raises(ModelCheckError, match=r"^no switch 'settle_once'; did you mean settles_once\?$"):
        switch_called("settle_once")
    for name in ("B01", "s1.immune_half", "S10"):
        with pytest.raises(ModelCheckError, match=rf"^{name} is no switch; halfcheck defects {name} says what repairs"):
            switch_called(name)


def test_each_repair_is_on_record_for_the_defects_that_its_entry_names() -> None:
    unshown = [f"{name}: {', '.join(unshown_claims(name))}" for name in switch_records() if unshown_claims(name)]
    assert not unshown, (
        f"{'; '.join(unshown)}: the entry says that the switch repairs these, and no search shows it. Add the profile "
        "to also_repaired_in of the defect's search (model_check/defects/*.toml), or take the id out of the entry"
    )


@pytest.mark.parametrize(("identifier", "profile"), REPAIRED_BY_ANOTHER)
def test_such_a_repair_mends_the_defect_that_it_names(identifier: str, profile: Profile) -> None:
    search = catalogue()[identifier].search
    assert search is not None
    found = check(Question(world=search.world.in_profile(profile), clauses=(search.clause,)))
    assert isinstance(found[search.clause], Holds)
