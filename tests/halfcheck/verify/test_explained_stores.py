"""Does a real store that the specification does not explain stop the main job?"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GoldenStore, golden_store
from halfcheck.commands.verify import _explanation
from halfcheck.errors import ExitCode, exit_code_of
from halfcheck.verify.parts import explained_store
from model_check.errors import EvaluationError
from reference.format.broker_conf import NAME

if TYPE_CHECKING:
    from pathlib import Path


def copied(store: GoldenStore, folder: Path) -> GoldenStore:
    return GoldenStore(shutil.copytree(store.path, folder / store.name))


def test_an_explained_store_is_told_with_its_profile_and_the_faults_of_its_path() -> None:
    audit = explained_store(golden_store("4.9.7", "late"))
    told = audit.trace
    assert (told.accepted, str(told.profile), told.events) == (True, "4.9.7", 46)
    assert told.faults == {"duplicate_end": 2, "late_end": 3, "wrong_end": 4}
    assert told.sentence().startswith("accepted by the specification of 4.9.7")
    assert _explanation(audit)["command"] == "halfcheck diff conformance/golden/4.9.7/late spec:4.9.7"
    assert audit.counts["doubled"] == 4


def test_a_store_of_a_version_between_the_profiles_is_explained_by_the_one_before() -> None:
    assert str(explained_store(golden_store("5.0.0", "forever_short")).trace.profile) == "4.9.7"


def test_a_store_that_is_refused_ends_with_75_and_is_named_with_the_record(tmp_path: Path) -> None:
    store = copied(golden_store("4.9.7", "forever"), tmp_path)
    conf = store.path / NAME
    conf.write_text(conf.read_text(encoding="utf-8").replace("transactionCheckMax=15", "transactionCheckMax=14"))
    with pytest.raises(EvaluationError) as refusal:
        explained_store(store)
    assert exit_code_of(refusal.value) == ExitCode.EVALUATION_ERROR
    assert str(refusal.value).startswith("4.9.7/forever: refused by the specification of 4.9.7 at event 15 (put_back ")


def test_a_store_that_cannot_be_asked_about_is_not_taken_as_explained(tmp_path: Path) -> None:
    store = copied(golden_store("4.9.7", "forever"), tmp_path)
    (log,) = (path for path in (store.path / "commitlog").iterdir() if path.is_file())
    content = bytearray(log.read_bytes())
    content[1_000] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(
        EvaluationError, match=r"4\.9\.7/forever: not held against the specification: a record is damaged"
    ):
        explained_store(store)
