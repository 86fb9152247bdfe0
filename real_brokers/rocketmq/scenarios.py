"""The scenarios that a real broker is led through: those of the golden stores, and some that answer a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from real_brokers.errors import RealBrokerError
from real_brokers.rocketmq import scenario_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.releases.jars import Release
    from real_brokers.rocketmq.broker import RealBroker


@dataclass(frozen=True, slots=True)
class RealScenario:
    """One scenario."""

    lead: Callable[[RealBroker], None]
    """Leads a run from a broker that has just started to the end of its clients, behind which the broker is stopped;
    the first line of its docstring is the story."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of ``broker.conf`` that it needs."""
    settings_of_5: Mapping[str, str] = field(default_factory=dict)
    """Further ones in the fifth generation only."""
    refused_from: str = ""
    """The first release whose client refuses its messages, if one does."""
    leads_beyond: str = ""
    """Its act that validation of traces does not know: no specification explains its store."""

    @property
    def story(self) -> str:
        """The scenario in one line."""
        return (self.lead.__doc__ or "").partition("\n")[0]

    def settings_for(self, release: Release) -> dict[str, str]:
        """The settings of ``broker.conf`` that it needs with a release."""
        return {**self.settings, **(self.settings_of_5 if release.is_5 else {})}


_TIMER: Final = {"timerWheelEnable": "true"}

SCENARIOS: Final = {
    "ten": RealScenario(scenario_runs.ten),
    "five": RealScenario(scenario_runs.five),
    "forever": RealScenario(scenario_runs.forever),
    "forever_short": RealScenario(scenario_runs.forever, {"transactionCheckMax": "2"}),
    "seed394": RealScenario(scenario_runs.forever, {"brokerClusterName": "DefaultCluster-padded-to-forty-bytes-xxx"}),
    "immunity": RealScenario(scenario_runs.immunity),
    "late": RealScenario(scenario_runs.late, {"transactionCheckMax": "3"}),
    "crash": RealScenario(scenario_runs.crash),
    "crash2": RealScenario(scenario_runs.late_crash),
    "gone": RealScenario(scenario_runs.gone),
    "wide": RealScenario(
        scenario_runs.wide,
        {"transactionTimeOut": "5000", "mappedFileSizeCommitLog": "524288"},
        {"transactionOpBatchInterval": "3000"},
    ),
    "mixed": RealScenario(scenario_runs.mixed),
    "foreign_op": RealScenario(scenario_runs.foreign_op, settings_of_5=_TIMER, refused_from="5.5.0"),
    "delayed": RealScenario(scenario_runs.delayed, settings_of_5=_TIMER),
    "synchronous": RealScenario(scenario_runs.synchronous, {"asyncSendEnable": "false"}),
    "steady": RealScenario(
        scenario_runs.steady, {"transactionTimeOut": "20000"}, {"transactionOpBatchInterval": "3000"}
    ),
    "unread_op": RealScenario(
        scenario_runs.unread_op, {"transactionCheckInterval": "10000"}, {"transactionOpMsgMaxSize": "1"}
    ),
    "foreign_original": RealScenario(
        scenario_runs.foreign_original,
        {"transactionCheckInterval": "10000"},
        leads_beyond="a producer sets TRAN_PREPARED_QUEUE_OFFSET",
    ),
    "check_offsets": RealScenario(scenario_runs.check_offsets, leads_beyond="a client sets the half offset"),
    "entries_come_back": RealScenario(
        scenario_runs.entries_come_back,
        {"transactionTimeOut": str(scenario_runs.TIMEOUT_OF_ENTRIES_MS)},
        leads_beyond="records are cut out of the log",
    ),
    "dropped_checks": RealScenario(
        scenario_runs.dropped_checks,
        {"transactionCheckInterval": "45000", "transactionTimeOut": "2000"},
    ),
    "gone_half": RealScenario(
        scenario_runs.gone_half,
        {
            "transactionTimeOut": "8000",
            "transactionCheckInterval": "4000",
            "mappedFileSizeCommitLog": "16384",
            "mappedFileSizeConsumeQueue": "120",
            "cleanResourceInterval": "5000",
            "deleteWhen": ";".join(f"{hour:02}" for hour in range(24)),
            "deleteConsumeQueueFilesInterval": "40000",
        },
        leads_beyond="the first file of the log is deleted",
    ),
}
"""By name; the golden store of a name is made by the scenario of that name."""


def scenario_called(name: str) -> RealScenario:
    """A scenario by its name; `RealBrokerError`, which names those that there are, if there is none."""
    if name not in SCENARIOS:
        message = f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}"
        raise RealBrokerError(message, exit_code=151)
    return SCENARIOS[name]
