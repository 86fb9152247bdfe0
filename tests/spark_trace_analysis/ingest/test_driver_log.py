"""A producer's log gives the END_TRANSACTIONs that can leave records, and the copies that were asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from model_check.trace_validation.observed import EndRequest, ObservedOutcome
from reference.format.errors import NotAStoreError
from spark_trace_analysis.ingest.driver_log import find_driver_log, read_driver_log

if TYPE_CHECKING:
    from pathlib import Path


def end(half: int, decision: int) -> dict[str, str]:
    return {"tranStateTableOffset": str(half), "commitOrRollback": str(decision)}


def write(folder: Path, *acts: object) -> Path:
    path = folder / "driver.jsonl"
    path.write_text("".join(json.dumps(act) + "\n" for act in acts))
    return path


def test_requests_with_a_header_and_those_sent_by_hand_are_taken(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": 5, "ev": "rpc.req", "code": 37, "header": end(3, 8)},
        {"t": 6, "ev": "rpc.req", "code": 37, "header": {}},  # the echo of a request sent by hand
        {"t": 7, "ev": "rpc.req", "code": 310, "header": end(3, 8)},
        {"t": 8, "ev": "rawEnd", "req": end(4, 12), "oneway": True, "respCode": None},
        {"t": 9, "ev": "rawEnd", "req": end(5, 8), "oneway": False, "respCode": 0},
    )
    assert read_driver_log(path).requests == (
        EndRequest(5, 3, ObservedOutcome.COMMIT),
        EndRequest(8, 4, ObservedOutcome.ROLLBACK),
        EndRequest(0, 5, ObservedOutcome.COMMIT),  # stamped when it was answered
    )


def test_what_the_broker_refused_or_drops_leaves_no_record_and_is_not_taken(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": 5, "ev": "rawEnd", "req": end(3, 8), "oneway": False, "respCode": 604},
        {"t": 6, "ev": "rpc.req", "code": 37, "header": end(3, 0)},
    )
    assert read_driver_log(path).requests == ()


def test_the_copies_that_checks_named_are_taken(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": 5, "ev": "check", "msg": {"queueOffset": 7}}, {"t": 6, "ev": "quiet"})
    assert read_driver_log(path).checked == {7}


@pytest.mark.parametrize(
    "line", ["{", '{"t": 1, "ev": "check"}', '{"ev": "rpc.req", "code": 37, "header": {"a": 1}}', "[]"]
)
def test_a_line_that_is_none_of_a_producers_log_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "driver.jsonl"
    path.write_text('{"ev": "begin"}\n' + line + "\n")
    with pytest.raises(NotAStoreError, match=r"driver\.jsonl, line 2: .* is not a line of a producer's log"):
        read_driver_log(path)


def test_a_log_is_found_plain_or_compressed(tmp_path: Path) -> None:
    assert find_driver_log(tmp_path) is None
    (tmp_path / "driver.jsonl.gz").write_bytes(b"")
    assert find_driver_log(tmp_path) == tmp_path / "driver.jsonl.gz"
