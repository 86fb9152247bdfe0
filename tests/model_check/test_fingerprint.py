from __future__ import annotations

import inspect
import shutil
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from model_check import fingerprint
from model_check.explicit.code_generation.compile import emitted_text
from model_check.explicit.code_generation.packing import pack_machine
from model_check.fingerprint import engine_fingerprint, meaning_of, specification_fingerprint
from model_check.world import World
from spec.language import MachineState
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = '''
"""Words."""
NAMES = ("a",)
"""More words."""


def guard(s, c):
    """Old."""
    require(c.crash, f"the broker {s}")  # why
    return s.x + 1
'''


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace("Words", "Other words").replace("More", "Many").replace("Old", "New").replace("why", "how"),
        BEFORE.replace("\n\n\n", "\n").replace("s.x + 1", "(s.x\n            + 1)"),
        BEFORE.replace("the broker", "a broker"),
    ],
)
def test_words_and_layout_do_not_count(after: str) -> None:
    assert after != BEFORE
    assert meaning_of(after) == meaning_of(BEFORE)


@pytest.mark.parametrize(("old", "new"), [("crash", "late_end"), ("+ 1", "+ 2"), ("+ 1", "- 1"), ('"a"', '"b"')])
def test_everything_else_does(old: str, new: str) -> None:
    assert meaning_of(BEFORE.replace(old, new)) != meaning_of(BEFORE)


CLAUSE = """
@always("S1", clause="late_op", resembles=("B27",), needs=("slow_local or wrong_end",), t=each("transactions"))
def once(s, c, t):
    return s.transaction[t].deliveries < 2
"""


@pytest.mark.parametrize(("old", "new"), [('"B27"', '"A02"'), ("slow_local or ", ""), (' resembles=("B27",),', "")])
def test_what_only_explains_a_clause_does_not_count(old: str, new: str) -> None:
    assert meaning_of(CLAUSE.replace(old, new)) == meaning_of(CLAUSE)


@pytest.mark.parametrize(
    ("old", "new"), [("late_op", "lost_op"), ('"S1"', '"S2"'), ("transactions", "half_slots"), ("< 2", "< 3")]
)
def test_what_a_clause_is_and_what_it_is_asked_of_does(old: str, new: str) -> None:
    assert meaning_of(CLAUSE.replace(old, new)) != meaning_of(CLAUSE)


def test_the_specification_is_its_python_and_its_instances() -> None:
    names = {name for name, _ in fingerprint._files(resources.files("spec"))}
    assert {"chapters/check_round.py", "properties/s9_quiet_commit.py", "instances/small.toml", "profiles.py"} <= names
    assert {name.partition("/")[0] for name in names if name.endswith(".toml")} == {"instances"}


def test_an_edited_guard_changes_the_fingerprint_and_an_edited_engine_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before = specification_fingerprint(), engine_fingerprint()
    assert (specification_fingerprint(), engine_fingerprint()) == before
    real = fingerprint.meaning_of
    monkeypatch.setattr(fingerprint, "meaning_of", lambda text: real(text.replace("c.check_max", "c.check_max + 1")))
    assert specification_fingerprint() != before[0]
    assert engine_fingerprint() == before[1]


def test_every_file_counts_but_those_that_decide_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(str(resources.files("spec")), tmp_path / "spec", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(resources, "files", tmp_path.joinpath)
    before = specification_fingerprint()
    files = dict(fingerprint._files(tmp_path / "spec"))
    edited = [
        "chapters/check_round.py",
        "properties/s1_at_most_once.py",
        "instances/tiny.toml",
        "profiles.py",
        "releases/broker_defaults.py",
    ]
    unseen = []
    for name in [*edited, *(name for name in files if name.startswith("language/"))]:
        file = tmp_path / "spec" / name
        text = file.read_text()
        file.write_text(f"more = 1\n{text}")
        if specification_fingerprint() == before:
            unseen.append(name)
        file.write_text(text)
    assert unseen == ["releases/broker_defaults.py", "language/memory.py"]


def test_no_state_of_the_cpython_reading_is_asked_for_what_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `spec/language/memory.py` may be left out of the fingerprint."""
    constants = World.of("5.3.3", ("crash",), "tiny").constants
    emit = inspect.unwrap(emitted_text)
    before = emit(TRANSACTIONAL_MESSAGES, constants), pack_machine(TRANSACTIONAL_MESSAGES, constants)
    monkeypatch.delattr(MachineState, "__init__")
    with pytest.raises(TypeError):
        TRANSACTIONAL_MESSAGES.initial(constants)
    assert (emit(TRANSACTIONAL_MESSAGES, constants), pack_machine(TRANSACTIONAL_MESSAGES, constants)) == before
