"""A workload file is read by its kinds, and what can't be gets one line that names it; each default has a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from files.content import parse_toml
from tests.traffic.small_worlds import PLAIN, plain_with, workload
from traffic.errors import BadWorkloadError
from traffic.workload.defaults import all_defaults
from traffic.workload.example import example_text
from traffic.workload.reading import SECTIONS, read_workload, workload_of

if TYPE_CHECKING:
    from pathlib import Path

BAD: dict[str, dict[str, dict[str, Any]]] = {
    "p99 lies below p50": {"local": {"time": {"p50": "20ms", "p99": "10ms"}}},
    "expected p50 and p99, not p95": {"local": {"time": {"p50": "20ms", "p95": "30ms"}}},
    "did you mean local.rollback?": {"local": {"rolback": 0.1}},
    "did you mean local?": {"locl": {"time": "1s"}},
    "expected a share from 0 to 1": {"local": {"hangs": 1.5}},
    "local.rollback and local.unknown are 1.2 together": {"local": {"rollback": 0.7, "unknown": 0.5}},
    "they have to be 1": {"local": {"commit": 0.5, "rollback": 0.1}},
    "expected more than 0": {"transactions": {"per_second": -3}},
    "with its unit, such as": {"local": {"time": 20}},
    "expected a length of time above 0": {"network": {"to_broker": "0ms"}},
    "5 furlongs": {"network": {"to_broker": "5 furlongs"}},
    "did you mean poisson?": {"transactions": {"arrivals": "poison"}},
    "more groups than producers (2)": {"producers": {"groups": 3}},
    "a whole number from 1": {"producers": {"count": 1.5}},
    "4,194,304 bytes": {"transactions": {"body_bytes": 1 << 30}},
    "is a whole number of seconds": {"transactions": {"immunity": "1500ms"}},
    "shorter than client.attempt_timeout": {"client": {"attempt_timeout": "5s", "total_timeout": "3s"}},
    "no key 'crashes.frequency'": {"crashes": {"frequency": 3}},
    "crashes.restart is missing: from a crash until": {"crashes": {"every": "1d", "power_loss": 0.1}},
    "disk_stalls.lasts is missing": {"disk_stalls": {"every": "1h"}},
}


@pytest.mark.parametrize("told", BAD)
def test_what_can_not_be_gets_one_line_that_names_it(told: str) -> None:
    with pytest.raises(BadWorkloadError) as refused:
        workload_of(plain_with(**BAD[told]), "small", "small.toml")
    line = str(refused.value)
    assert told.replace("p99 lies", "p99 (10ms) lies").replace("below p50", "below p50 (20ms)") in line
    assert line.startswith("small.toml: ")
    assert "\n" not in line


@pytest.mark.parametrize("section", [name for name, section in SECTIONS.items() if section.is_needed])
def test_a_section_and_a_key_without_a_source_are_asked_for(section: str) -> None:
    without = {name: values for name, values in PLAIN.items() if name != section}
    with pytest.raises(BadWorkloadError, match=rf"\[{section}\] is missing: "):
        workload_of(without, "small", "small.toml")
    for key in PLAIN[section]:
        if key == "kind":
            continue
        rest = {name: value for name, value in PLAIN[section].items() if name != key}
        with pytest.raises(BadWorkloadError, match=rf"{section}\.{key} is missing: .*no default"):
            workload_of(PLAIN | {section: rest}, "small", "small.toml")


def test_each_default_has_a_source_and_is_what_its_key_takes() -> None:
    assert len(all_defaults()) == 14
    for section, key, default in all_defaults():
        assert default.source.startswith("apache/rocketmq"), (section, key)
    assert workload().client.total_timeout_ms is None
    remoting = workload(client={"kind": "remoting"}).client
    assert (remoting.attempts, remoting.attempt_timeout_ms, remoting.total_timeout_ms) == (3, 3000, 3000)


def test_the_example_is_a_workload_and_names_every_key(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(example_text(), encoding="utf-8")
    shop = read_workload(path)
    assert (shop.name, shop.arrivals.per_second, shop.crashes) == ("shop", 200, None)
    keys = {key for section in SECTIONS.values() for key in section.keys}
    off = tuple(f"# {key} = " for key in keys)
    lines = [
        line.removeprefix("# ") if line.startswith(("# [", *off)) else line for line in example_text().splitlines()
    ]
    uncommented = "\n".join(lines)
    given: dict[str, Any] = parse_toml(uncommented)
    named = {f"{name}.{key}" for name, table in given.items() if name != "pauses" for key in table}
    named |= {f"pauses.{part}.{key}" for part, table in given["pauses"].items() for key in table}
    assert named | {"local.commit"} == {f"{name}.{key}" for name, about in SECTIONS.items() for key in about.keys}
    assert not workload_of(given, "shop", "shop.toml").left_out


def test_a_file_that_is_no_toml_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text("[local\n", encoding="utf-8")
    with pytest.raises(BadWorkloadError, match=r"shop\.toml: not TOML"):
        read_workload(path)
