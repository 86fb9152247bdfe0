"""The trials: a workload with the settings of its broker, and how many transactions a run has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORKLOADS: Final = Path(__file__).with_name("workloads")
RELEASES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.5.0")


@dataclass(frozen=True, slots=True)
class TrafficTrial:
    """One trial."""

    name: str
    story: str
    transactions: int
    settings: Mapping[str, str]
    settings_of_5: Mapping[str, str] = field(default_factory=dict)
    lives_s: tuple[float, ...] = ()
    """How long each process of the broker serves until it is killed (SIGKILL) and started again; none is killed behind
    the last."""
    drains_s: float = 150.0
    """How long behind the last transaction the check service may take to read the half queue to its end."""
    not_modelled: str = ""
    """What the model of this trial leaves out, and which measures that moves."""
    golden: str = ""
    """The golden store that is measured in place of a run, led by the Java client through the scenario of that name
    (`make real-broker`); the workload describes what that client does."""

    @property
    def workload(self) -> Path:
        """Its workload."""
        return _WORKLOADS / f"{self.name}.toml"

    def seed(self, version: str) -> int:
        """The seed of the draws of a run, of its own for each release: a chance of one run is none of another."""
        return crc32(f"{version} {self.name}".encode())


_SLOW: Final = {"transactionTimeOut": "2000", "transactionCheckInterval": "3000", "transactionCheckMax": "4"}
_BATCHES: Final = {"transactionOpBatchInterval": "1000"}

_OF_MIXED: Final = (
    "How long a send takes is twice the time from a half's birth until it was stored. Not modelled: that no "
    "transaction gets more than three UNKNOWNs (their number is geometric here, of the same mean: birth to delivery, "
    "p99, and op messages of 5.x, of which each further round of answers makes one); and that each round of a broker "
    "that has just started takes 20 to 45 ms, so that the third begins a tenth of a second later (birth to first "
    "put-back)."
)

TRIALS: Final = {
    trial.name: trial
    for trial in (
        TrafficTrial(
            "steady",
            "Slow local transactions, some unknown or hanging; nothing crashes. Producers of our own over the wire.",
            1_500, _SLOW, _BATCHES,
        ),
        TrafficTrial(
            "kills",
            "The same traffic at half the rate, and the broker is killed (SIGKILL) and started again twice.",
            1_500, _SLOW, _BATCHES, (24.0, 17.0),
        ),
        TrafficTrial(
            "mixed",
            "Golden stores of the scenario `mixed` (`make real-broker`): 200 messages by the release's Java client.",
            200, {}, golden="mixed", not_modelled=_OF_MIXED,
        ),
    )
}  # fmt: skip
"""By name, in the order of the page."""
