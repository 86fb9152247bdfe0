from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from model_check.errors import BadFile, ModelCheckError
from model_check.instances import instance_names, load_instance
from model_check.world import Profile, World
from spec.constants import FAULTS, SWITCHES, Instance
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

TINY = {
    "transactions": "1",
    "half_slots": "3",
    "op_slots": "2",
    "check_max": "2",
    "timeout": "2",
    "immunities": "[-1, 3]",
    "check_interval": "1",
    "round_limit": "1",
    "op_batch_interval": "1",
    "op_batch_size": "9",
    "op_pull_size": "1",
}
OPTIONAL = {
    "skews": "[-2, 1]",
    "clock_steps": "1",
    "mishaps": "2",
}


FIELDS = tuple(field.name for field in fields(Instance) if field.name != "name")


def instance_file(folder: Path, **changes: str | None) -> str:
    fields = {name: value for name, value in {**TINY, **changes}.items() if value is not None}
    path = folder / "mine.toml"
    path.write_text("".join(f"{name} = {value}\n" for name, value in fields.items()))
    return str(path)


def test_the_instances_that_come_with_the_specification_load_and_are_listed_smallest_first() -> None:
    assert instance_names()[:6] == ("tiny", "patient", "odd", "skewed", "deep", "small")
    assert [load_instance(name).name for name in instance_names()] == list(instance_names())


def test_a_file_means_the_same_as_the_name_of_the_same_instance(tmp_path: Path) -> None:
    path = instance_file(tmp_path, **OPTIONAL)
    mine, tiny = load_instance(path), load_instance("tiny")
    assert mine.name == path
    assert {**vars(mine), "name": ""} == {**vars(tiny), "name": ""}


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        *((name, None, f"{name} is missing") for name in TINY),
        *((name, '"2"', f"{name} = '2' is not") for name in FIELDS),
        *((name, "-2", f"{name} = -2 is not") for name in FIELDS),
        *((name, "65", f"{name} = 65 is not") for name in FIELDS),
        *((name, "1.0", f"{name} = 1.0 is not") for name in FIELDS),
        *((name, "true", f"{name} = True is not") for name in FIELDS),
        *((name, "0", f"{name} = 0 is not") for name in ("transactions", "half_slots", "op_slots", "check_max")),
        *((name, "0", f"{name} = 0 is not") for name in ("op_batch_size", "op_pull_size")),
        ("immunities", "[]", "immunities = [] is not a list of whole numbers"),
        ("immunities", "[3, -2]", "immunities = [3, -2] is not a list of whole numbers"),
        ("immunities", "[65]", "immunities = [65] is not a list of whole numbers"),
        ("immunities", "[true]", "immunities = [True] is not a list of whole numbers"),
        ("first_checks", "[-1]", "first_checks = [-1] is not a list of whole numbers from 0"),
        ("first_checks", "[0, 3]", "first_checks = [0, 3] has more than check_max allows, which is 2"),
        ("skews", "[-63]", "skews = [-63] is not a list of whole numbers from -62"),
        ("clock_steps", "2", "clock_steps = 2 is not a whole number from 0 to 1"),
        ("crowded", "2", "crowded = 2 is not a whole number from 0 to 1"),
        ("colour", "3", "unknown field 'colour'"),
        ("name", '"x"', "unknown field 'name'"),
    ],
)
def test_a_bad_field_is_named_in_one_line(tmp_path: Path, field: str, value: str | None, complaint: str) -> None:
    path = instance_file(tmp_path, **{field: value})
    with pytest.raises(BadFile) as caught:
        load_instance(path)
    assert str(caught.value).startswith(f"instance file {path}: {complaint}")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 150


def test_one_among_others_is_a_single_transaction(tmp_path: Path) -> None:
    assert load_instance(instance_file(tmp_path, crowded="1")).crowded == 1
    path = instance_file(tmp_path, transactions="2", crowded="1")
    with pytest.raises(BadFile) as caught:
        load_instance(path)
    said = "crowded = 1 has one transaction among any number of others; transactions = 2 is to be 1"
    assert str(caught.value) == f"instance file {path}: {said}"
    assert caught.value.exit_code == 150
    path = instance_file(tmp_path, crowded="1", proxies="1")
    with pytest.raises(BadFile) as caught:
        load_instance(path)
    said = "crowded = 1 has producers that speak to the broker itself; proxies = 1 is to be 0"
    assert str(caught.value) == f"instance file {path}: {said}"


@pytest.mark.parametrize("content", [b"transactions = ", b"\xff\xfe", b"transactions = 1\ntransactions = 2\n"])
def test_a_file_that_is_not_toml_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"^instance file .*mine\.toml: ") as caught:
        load_instance(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["absent.toml", "folder.toml"])
def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(BadFile, match=r"^instance file .*: (No such file or directory|Is a directory)$"):
        load_instance(str(tmp_path / name))


def test_unknown_names_are_answered_with_what_there_is() -> None:
    with pytest.raises(
        ModelCheckError,
        match=r"^no instance 'huge'; there are tiny, patient, odd, skewed, deep, .* \.toml file$",
    ):
        load_instance("huge")
    with pytest.raises(ModelCheckError, match=r"^no profile 'newest'; there are 4\.5\.1, 4\.9\.7, 5\.3\.3, 5\.4\.0"):
        World.of("newest", (), "tiny")
    with pytest.raises(ModelCheckError, match=r"^no switch 'magic'; halfcheck switches lists the 54 that there are$"):
        World.of("5.3.3+batches_ops-magic", (), "tiny")
    with pytest.raises(ModelCheckError, match=r"^no switch ''; halfcheck switches lists the 54 that there are$"):
        Profile.of("5.3.3+")
    with pytest.raises(ModelCheckError, match=r"^no profile ''; there are "):
        Profile.of("+batches_ops")
    with pytest.raises(ModelCheckError, match=r"^no fault 'fire'; there are slow_local, lose_end, "):
        World.of("5.3.3", ("crash", "fire"), "tiny")
    assert ModelCheckError.exit_code == 151


@pytest.mark.parametrize(
    ("profile", "fault", "instance", "answer"),
    [
        ("5.3.3", "crsh", "tiny", "no fault 'crsh'; did you mean crash?"),
        ("5.3.3", "CRASH", "tiny", "no fault 'CRASH'; did you mean crash?"),
        ("5.3.3", "crash", "smal", "no instance 'smal'; did you mean small? There are tiny, "),
        (
            "5.4.0+heed_settled_original",
            "crash",
            "tiny",
            "no switch 'heed_settled_original'; did you mean heeds_settled_originals?",
        ),
        ("5.3", "crash", "tiny", "no profile '5.3'; did you mean 5.3.3? There are 4.5.1, "),
        ("6.0.0", "crash", "tiny", "no profile '6.0.0'; did you mean 5.5.1, which stands for 6.0.0? There are 4.5.1, "),
        (
            "5.0.0",
            "crash",
            "tiny",
            "no profile '5.0.0'; did you mean 4.9.7+undecodable_throws+lower_end_passes_all+truncates_running, "
            "which stands for 5.0.0? There are 4.5.1, ",
        ),
        ("fix", "crash", "tiny", "no profile 'fix'; did you mean fixed? There are 4.5.1, "),
    ],
)
def test_what_may_have_been_meant_is_said(profile: str, fault: str, instance: str, answer: str) -> None:
    with pytest.raises(ModelCheckError) as caught:
        World.of(profile, (fault,), instance)
    assert str(caught.value).startswith(answer)
    assert "\n" not in str(caught.value)


def test_a_profile_and_faults_become_switches() -> None:
    constants = World.of("4.5.1", ("crash", "lose_end"), "tiny").constants
    assert {name for name in FAULTS if getattr(constants, name)} == {"crash", "lose_end"}
    assert {name: getattr(constants, name) for name in SWITCHES} == vars(PROFILES["4.5.1"])
    assert constants.transactions == 1


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_switch_can_be_turned_on_and_off_in_any_profile_and_no_other_moves(profile: str, name: str) -> None:
    for sign, wanted in (("+", True), ("-", False)):
        turned = f"{profile}{sign}{name}"
        assert vars(Profile.of(turned).switches) == {**vars(PROFILES[profile]), name: wanted}
        assert getattr(World.of(turned, (), "tiny").constants, name) is wanted
        assert Profile.of(turned).unturned == profile


def test_the_last_turn_of_a_switch_counts() -> None:
    assert (
        Profile.of("4.9.7+batches_ops-keeps_discarded-batches_ops").switches
        == Profile.of("4.9.7-keeps_discarded").switches
    )
