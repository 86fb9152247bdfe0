"""Names become profiles, environments and worlds at the border, and go back into the same text."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import jsonschema
import pytest

from model_check.answers.answer import answer_of
from model_check.check import check
from model_check.clauses import chosen_clauses, clause_names, clauses_by_name, name_of
from model_check.errors import ModelCheckError
from model_check.finding import SCHEMA, Bounds, Finding, Holds, Numbers, Unknown, Violated
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import ALL_FAULTS, NO_FAULTS, QUIET, Environment, Profile, World
from spec.constants import FAULTS, SWITCHES
from spec.profiles import PROFILES, VERSIONS
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS = (
    World.of("5.3.3"),
    World.of("4.5.1", ["crash"], "small"),
    World.of("5.4.0+settles_once-batches_ops", ["role_change", "lose_end"], "lasting"),
    World.of("fixed", FAULTS, "large@2x3x2"),
)


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def parsed(options: str) -> World:
    """The world that a command is asked about with these options."""
    words = options.split()
    given = dict(zip(words[::2], words[1::2], strict=True))
    faults = Environment.named(given.pop("--faults", QUIET))
    assert given.keys() == {"--profile", "--instance"}
    return World.of(given["--profile"], faults, given["--instance"])


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_a_world_is_parsed_again_from_its_own_options(world: World) -> None:
    assert parsed(world.options) == world
    assert parsed(world.options).constants == world.constants


def test_worlds_are_equal_and_have_one_hash_where_their_parts_are() -> None:
    for world in WORLDS:
        again = World.of(world.profile.name, reversed(world.environment), world.instance.name)
        assert (again, hash(again), again.key) == (world, hash(world), world.key)
        assert {world: 1}[again] == 1
        same = World.of(world.profile, world.environment, replace(world.instance))
        assert (same, hash(same)) == (world, hash(world)), "objects are taken as well as names"
    assert len(set(WORLDS)) == len({world.key for world in WORLDS}) == len(WORLDS)
    tiny, wider = WORLDS[0], WORLDS[0].on(replace(WORLDS[0].instance, half_slots=4))
    assert tiny != wider, "instances of one name"
    assert tiny.key != wider.key


IN_ANOTHER_PROCESS = """
import pickle, sys
from model_check.world import World
for world in pickle.load(sys.stdin.buffer):
    assert world in {World.of(world.profile.name, world.environment, world.instance.name)}, world
"""


def test_a_world_is_the_same_in_another_process() -> None:
    """The hash of a text is another one in each process, so that none goes along."""
    assert len(set(WORLDS)) == len(WORLDS), "each has its hash"
    subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS], input=pickle.dumps(WORLDS), check=True)


def test_one_part_of_a_world_is_exchanged() -> None:
    world = World.of("4.5.1", ["crash"], "small")
    assert world.on(load_instance("odd")) == World.of("4.5.1", ["crash"], "odd")
    assert world.under(NO_FAULTS) == World.of("4.5.1", (), "small")
    assert world.in_profile(Profile.of("fixed")) == World.of("fixed", ["crash"], "small")


def test_the_constants_of_a_world_are_its_instance_its_switches_and_its_faults() -> None:
    world = World.of("5.4.0+settles_once", ["crash", "lose_end"], "odd")
    constants = world.constants
    assert {name for name in FAULTS if getattr(constants, name)} == {"crash", "lose_end"}
    assert {name: getattr(constants, name) for name in SWITCHES} == {**vars(PROFILES["5.4.0"]), "settles_once": True}
    assert {name: getattr(constants, name) for name in vars(world.instance)} == vars(world.instance)


def test_what_people_read_of_a_world() -> None:
    quiet, _, turned, _ = WORLDS
    assert (quiet.title, str(quiet)) == ("5.3.3 in the quiet world on tiny", "5.3.3 tiny quiet")
    assert turned.title == "5.4.0+settles_once-batches_ops with lose_end, role_change on lasting"
    assert str(turned) == "5.4.0+settles_once-batches_ops lasting lose_end,role_change"
    assert turned.options == (
        "--profile 5.4.0+settles_once-batches_ops --instance lasting --faults lose_end,role_change"
    )
    assert quiet.sizes_to_json() == {"name": "tiny", "transactions": 1, "half_slots": 3, "op_slots": 2}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: World.of("5.3"), "no profile '5.3'; did you mean 5.3.3? There are 4.5.1, "),
        (lambda: Profile.of("5.3.3+magic"), "no switch 'magic'; halfcheck switches lists the 54 that there are"),
        (lambda: Profile.of("5.3.3").turn("-"), "no switch ''; halfcheck switches lists the 54 that there are"),
        (lambda: World.of("5.3.3", ["fire"]), "no fault 'fire'; there are slow_local, lose_end, "),
        (lambda: Environment.of(["crsh", "lose_end"]), "no fault 'crsh'; did you mean crash?"),
        (
            lambda: Environment.of(["all"]),
            "no fault 'all': all at once do not say which of them breaks what; halfcheck faults ",
        ),
        (lambda: World.of("5.3.3", (), "huge"), "no instance 'huge'; there are tiny, patient, odd, "),
        (lambda: chosen_clauses(["S1.imune_half"]), "no property 'S1.imune_half'; did you mean S1.immune_half?"),
    ],
)
def test_a_name_that_there_is_not_is_answered_with_what_there_is(made: Callable[[], object], said: str) -> None:
    with pytest.raises(ModelCheckError) as caught:
        made()
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 151


def test_an_environment_is_in_the_order_in_which_faults_are_declared() -> None:
    drawn = random.Random(20_261_126)
    for _ in range(50):
        faults = drawn.sample(FAULTS, drawn.randint(0, 5))
        environment = Environment.of([*faults, *faults])
        assert environment == tuple(fault for fault in FAULTS if fault in faults), "each once"
        assert Environment.named(environment.name) == environment
        assert Environment.of(reversed(environment)) == environment
    assert (Environment.of(FAULTS), Environment.of(())) == (ALL_FAULTS, NO_FAULTS)
    assert isinstance(Environment.named("crash,lose_end"), Environment)


def test_an_environment_is_the_tuple_of_its_faults() -> None:
    crash = Environment.of(["crash"])
    assert (crash == ("crash",), hash(crash), {crash: 1}["crash",]) == (True, hash(("crash",)), 1)  # type: ignore[index]
    assert (repr(crash), list(crash), bool(NO_FAULTS)) == ("('crash',)", ["crash"], False)
    assert isinstance(pickle.loads(pickle.dumps(crash)), Environment)  # noqa: S301 (what was just written)


def test_what_people_read_of_an_environment() -> None:
    both = Environment.of(["crash", "lose_end"])
    assert (both.name, NO_FAULTS.name) == ("lose_end,crash", QUIET)
    assert (both.in_words(), NO_FAULTS.in_words()) == ("lose_end + crash", "the quiet world")
    assert both.in_words(", ") == "lose_end, crash"
    assert (both.beside_a_profile, NO_FAULTS.beside_a_profile) == ("with lose_end, crash", "in the quiet world")


def test_the_smaller_environments_are_all_proper_parts_and_the_smallest_stand_first() -> None:
    three = Environment.of(["slow_local", "lose_end", "crash"])
    smaller = list(three.smaller())
    assert [len(part) for part in smaller] == [0, 1, 1, 1, 2, 2, 2]
    assert set(smaller) == {part for size in range(3) for part in combinations(three, size)}
    assert all(isinstance(part, Environment) for part in smaller)
    assert all(part.is_within(three) and not three.is_within(part) for part in smaller)
    assert three.is_within(three)
    assert three.is_within(ALL_FAULTS)
    assert list(NO_FAULTS.smaller()) == []
    assert not Environment.of(["crash"]).is_within(["lose_end"])


def test_environments_are_sorted_by_their_size_and_then_in_the_order_of_their_faults() -> None:
    every = [*(Environment([fault]) for fault in FAULTS), *map(Environment, combinations(FAULTS[:5], 2))]
    mixed = [NO_FAULTS, *every]
    random.Random(1).shuffle(mixed)
    assert sorted(mixed, key=lambda one: one.by_size) == [NO_FAULTS, *every]
    gone = Environment.named("gone_fault")
    assert sorted([gone, *every[:3]], key=lambda one: one.by_size) == [*every[:3], gone], "of a stale table"


def test_profiles_are_those_of_the_specification_oldest_first() -> None:
    assert [profile.name for profile in Profile.all()] == list(PROFILES)
    assert [profile.name for profile in Profile.versions()] == list(VERSIONS)
    assert [profile.name for profile in Profile.all() if profile.is_version] == list(VERSIONS)
    assert all(profile.switches == PROFILES[profile.name] for profile in Profile.all())
    older, newer = Profile.of("4.9.7"), Profile.of("5.5.1")
    assert Profile.in_order([newer, older, newer]) == (older, newer)
    assert Profile.in_order([newer.turn("+settles_once"), older]) == (older, newer.turn("+settles_once"))
    assert Profile.in_order([]) == Profile.all()


def test_a_profile_with_switches_turned_is_another_profile() -> None:
    plain = Profile.of("5.4.0")
    turned = plain.turn("+settles_once", "-batches_ops")
    assert turned == Profile.of("5.4.0+settles_once-batches_ops") == plain.turn("+settles_once").turn("-batches_ops")
    assert hash(turned) == hash(Profile.of("5.4.0+settles_once-batches_ops"))
    assert turned.switches == replace(plain.switches, settles_once=True, batches_ops=False)
    assert (turned.unturned, turned.turned) == ("5.4.0", ("+settles_once", "-batches_ops"))
    assert (plain.unturned, plain.turned, plain.turn()) == ("5.4.0", (), plain)
    assert (plain.is_version, turned.is_version, Profile.of("fixed").is_version) == (True, False, False)
    assert plain.turn("-settles_once") != plain, "the same switches under another name"


def test_profiles_with_the_same_switches_stand_at_the_head_of_one_column() -> None:
    for profile in Profile.all():
        alike = [other.name for other in Profile.all() if other.switches == profile.switches]
        assert profile.same() == ", ".join(alike)
        assert profile.turn("+settles_once", "-settles_once").same() == ", ".join(
            other.name for other in Profile.all() if other.switches == replace(profile.switches, settles_once=False)
        )


def test_a_clause_and_its_name_stand_for_each_other() -> None:
    assert [name_of(clause) for clause in clauses_by_name().values()] == list(clause_names())
    for name, clause in clauses_by_name().items():
        assert chosen_clauses([name]) == (clause,)


# --- what a finding and an answer say as plain data -------------------------------------------------------------------

FINDING = (
    "profile", "environment", "instance", "properties", "distinct", "generated", "depth", "complete", "seconds",
    "compile_seconds", "states_per_second", "peak_bytes", "disk_bytes", "resumed_from", "collision_probability",
    "unseen_witnesses",
)  # fmt: skip
OF_PROPERTY = ("verdict", "depth", "clause", "resembles", "trace", "replay", "clauses")
OF_CLAUSE = ("verdict", "depth", "resembles", "rule", "reason", "trace", "replay")
ANSWER = (*FINDING, "instances", "instances_left_out", "bounds", "searched_together")
ANSWER_OF_PROPERTY = (*OF_PROPERTY, "instance", "cannot_occur")
ANSWER_OF_CLAUSE = (
    *OF_CLAUSE, "instance", "cannot_occur", "any_length", "any_number", "broken_elsewhere", "gravity", "harm", "remedy",
)  # fmt: skip


def test_the_keys_of_a_finding_and_of_an_answer_are_those_that_scripts_rely_on() -> None:
    with untraced():
        finding = check(Question.of("4.9.7", properties=["S1", "S5"]))
    answer = answer_of(finding)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for content, keys, of_property, of_clause in (
        (finding.to_json(), FINDING, OF_PROPERTY, OF_CLAUSE),
        (answer.to_json(), ANSWER, ANSWER_OF_PROPERTY, ANSWER_OF_CLAUSE),
    ):
        jsonschema.validate(content, schema)
        assert tuple(content) == keys
        assert list(content["properties"]) == ["S1", "S5"]
        for mine in content["properties"].values():
            assert tuple(mine) == of_property
            assert all(tuple(clause) == of_clause for clause in mine["clauses"].values())
    broken = answer.to_json()["properties"]["S1"]
    assert (broken["verdict"], broken["depth"], broken["clause"]) == ("violated", 16, "immune_half")
    assert (broken["resembles"], broken["instance"]) == (["B01", "B47"], "tiny")
    assert broken["replay"].startswith('halfcheck replay --profile 4.9.7 --instance tiny --steps "send_half t=0 ')
    assert finding.to_json()["properties"]["S1"]["resembles"] == [], "an answer names them, after the search"


def test_a_property_of_plain_data_is_violated_with_any_of_its_clauses_and_unknown_with_one_that_is() -> None:
    world, numbers = World.of("4.9.7", ["crash"]), Numbers(10, 20, 5, complete=True)
    first, second, third = chosen_clauses(["S2"])
    holds, bounds = Holds(third, ()), Bounds.of(world.instance, numbers)

    def of(*rows: Violated | Holds | Unknown, complete: bool = True) -> tuple[str, object, object]:
        finding = Finding(world, rows, replace(numbers, complete=complete))
        mine = finding.to_json()["properties"]["S2"]
        return mine["verdict"], mine["depth"], mine["clause"]

    assert of(Holds(first, (bounds,)), Holds(second, (bounds,)), holds) == ("holds", None, None)
    assert of(Holds(first, (bounds,)), Unknown(second, "cut"), holds) == ("unknown", None, None)
    assert of(Holds(first, (bounds,)), Holds(second, (bounds,)), holds, complete=False) == ("unknown", None, None)
    longer, shorter = Violated(first, 7, world), Violated(second, 5, world)
    assert of(longer, shorter, Unknown(third, "cut"), complete=False) == ("violated", 5, second.clause)
    assert shorter.command == 'halfcheck replay --profile 4.9.7 --instance tiny --faults crash --steps ""'


def test_a_finding_gives_the_row_of_a_clause() -> None:
    world, numbers = World.of("4.9.7"), Numbers(10, 20, 5, complete=False)
    first, second, third = chosen_clauses(["S2"])
    rows = Violated(first, 7, world), Holds(second, ()), Unknown(third, "none is found among 10 states")
    finding = Finding(world, rows, numbers)
    assert [finding[clause] for clause in (first, second, third)] == list(rows)
    assert (finding.violated, finding.undecided) == ({first: rows[0]}, "none is found among 10 states")
    other = finding.in_profile(Profile.of("5.3.3"))
    assert (other.world, other[first], other[second]) == (
        World.of("5.3.3"),
        Violated(first, 7, World.of("5.3.3")),
        rows[1],
    )
