"""Workloads small enough for a test: nothing goes wrong in the plain one, and each test says what does in its own."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from fuzz.lockstep.broker_versions import version_of
from model_check.world import Profile
from traffic.simulation.simulate import simulate
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.workload.reading import workload_of

if TYPE_CHECKING:
    from traffic.simulation.counts import TrafficCounts
    from traffic.workload.workload import TrafficWorkload

PLAIN: dict[str, Any] = {
    "transactions": {"per_second": 20, "arrivals": "poisson", "body_bytes": 100},
    "producers": {"count": 2, "groups": 1},
    "local": {"time": "20ms", "rollback": 0.0, "unknown": 0.0, "hangs": 0.0},
    "checks": {"after": "5ms", "unknown": 0.0, "never_run": "rollback"},
    "network": {"to_broker": "0.5ms", "from_broker": "0.5ms", "loss_to_broker": 0, "loss_from_broker": 0},
    "client": {"kind": "grpc"},
}
SLOW = {"p50": "1s", "p99": "60s"}


def plain_with(**sections: dict[str, Any]) -> dict[str, Any]:
    """The plain workload as data, with other values in some sections."""
    given = deepcopy(PLAIN)
    for name, values in sections.items():
        given[name] = given.get(name, {}) | values
    return given


def workload(**sections: dict[str, Any]) -> TrafficWorkload:
    return workload_of(plain_with(**sections), "small", "small.toml")


def broker(version: str) -> SimulatedBroker:
    """A release with its defaults, or `fixed`."""
    if version == "fixed":
        return SimulatedBroker.of(version_of(Profile.of(version)), "5.5.1")
    return SimulatedBroker.of(version, version)


def counted(version: str, number: int, seed: int = 7, /, **sections: dict[str, Any]) -> TrafficCounts:
    return simulate(broker(version), workload(**sections), seed, number)


def causes(counts: TrafficCounts, measure: str) -> set[str]:
    return set(counts.causes[measure])
