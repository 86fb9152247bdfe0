"""Two masters with a slave each, audited by their name server while one slave stops and the other's master is killed.

Each moment asks the name server for the cluster as ``halfcheck audit --namesrv --cluster`` does, audits what is to be
audited by that, and holds each audit against the broker's own folder. Where a slave stands for a master that is gone,
it is held against the folder which that master has left, too: there it can differ, and how it does is kept.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from document.words import counted
from halfcheck.auditing.brokers import addresses_of
from halfcheck.auditing.options import AuditOptions
from halfcheck.errors import ExitCode
from real_brokers.audit.audited_run import AuditedBroker, AuditedMoment
from real_brokers.audit.both_ways import differences
from real_brokers.audit.seen import SeenCluster
from real_brokers.loopback import listed_groups
from real_brokers.patience import comes, wait_until
from real_brokers.proxy.topics import BrokerOperator
from real_brokers.rocketmq.client import COMMIT, ROLLBACK, UNKNOWN, ClientMessage, ClientPlan
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.state import TransactionState
from wire.client.broker_facts import runtime_info
from wire.client.channel import BrokerChannel
from wire.client.queries import check_offset, end_of_queue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from real_brokers.rocketmq.client import Client
    from spark_trace_analysis.audit.audit import Audit

_ACTING: Final = {"enableSlaveActingMaster": "true"}
CLUSTERS: Final[Mapping[str, Mapping[str, str]]] = {
    "two_masters": {},
    "two_masters_acting": _ACTING,
    "two_masters_escaping": {**_ACTING, "enableRemoteEscape": "true"},
}
"""By name, in the order of the page: what its four brokers have in ``broker.conf`` besides."""
CLUSTER_RELEASES: Final = ("5.3.3", "5.5.1")

_SETTINGS: Final = {
    "brokerIP2": "127.0.0.1",
    "transactionTimeOut": "3000",
    "transactionCheckInterval": "5000",
    "transactionCheckMax": "1000",
}
"""More checks than a run has rounds, so that nothing is discarded."""
_CLUSTER: Final = "DefaultCluster"
_TOPIC: Final = "TopicTwo"
_GROUP: Final = "two-group"
_QUEUES: Final = 4
_HALVES: Final = 24
"""A producer goes through the queues in turn, four of each master: each gets as many of each plan."""
_PLANS: Final = (
    ClientPlan(COMMIT),
    ClientPlan(ROLLBACK),
    ClientPlan.of(UNKNOWN, COMMIT),
    ClientPlan.of(UNKNOWN, UNKNOWN),
)
_OPEN: Final = len(_PLANS) - 1
_TAKEN_OVER_SECONDS: Final = 300.0
"""Eleven tries of each copy take six seconds (``MAX_RETRY_TIMES_FOR_ESCAPE``), of old ones, too, where the slave does
not know its master's last offsets."""
_OVER_SECONDS: Final = 90.0


@dataclass(slots=True)
class _Cluster:
    """The four brokers of a run, and what their audits have shown."""

    release: str
    name: str
    masters: tuple[AuditedBroker, AuditedBroker]
    slaves: tuple[AuditedBroker, AuditedBroker]
    audited: list[tuple[str, str, str, int, str]] = field(default_factory=list)
    differences: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    damage: list[tuple[str, str, str]] = field(default_factory=list)
    of_left: list[tuple[str, str, str, str]] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    in_both: list[tuple[str, int, int]] = field(default_factory=list)

    def audit(self, moment: str) -> dict[str, Audit]:
        """Audit what the name server names, each broker both ways; by the broker's name and id."""
        namesrv = str(self.masters[0].ports.name_server_address)
        names = {str(broker.address): called(broker) for broker in (*self.masters, *self.slaves)}
        brokers = {called(broker): broker for broker in (*self.masters, *self.slaves)}
        found: dict[str, Audit] = {}
        for address in addresses_of(AuditOptions(namesrv=namesrv, cluster=_CLUSTER)):
            name = names[str(address)]
            one = AuditedMoment.of(brokers[name], moment)
            found[name] = one.found.audit
            self.audited.append((moment, name, str(one.found.copy.role), *_counted(one.found.audit)))
            self.differences += [(moment, name, *each) for each in one.differing]
            self.damage += [(moment, name, str(region)) for region in one.found.audit.corrupt]
        self._note_those_in_both(moment, list(found.values()))
        self._note_the_command(moment, namesrv, found)
        return found

    def hold_against(self, moment: str, audit: Audit, left: AuditedBroker) -> None:
        """Hold a slave's audit against the folder that its master has left; rows that differ alike are counted."""
        found = differences(audit, audit_store(left.store, self.release))
        alike = Counter((one.network, one.store) for one in found if one.what.startswith("row "))
        others = [(one.what, one.network, one.store) for one in found if one.what.startswith("verdict")]
        rows = [(counted(count, "row"), *each) for each, count in alike.items()]
        self.of_left += [(moment, *each) for each in (*rows, *others)]

    def _note_those_in_both(self, moment: str, audits: list[Audit]) -> None:
        """How many transactions more than one broker has, and how many of them more than one has delivered."""
        there = Counter(row.unique_key for audit in audits for row in audit.transactions)
        delivered = Counter(row.unique_key for audit in audits for row in audit.transactions if row.deliveries)
        self.in_both.append((moment, _in_several(there), _in_several(delivered)))

    def _note_the_command(self, moment: str, namesrv: str, found: dict[str, Audit]) -> None:
        """Run the command itself: it must audit as many brokers, and what it says on stderr is kept."""
        asked = ["audit", "--namesrv", namesrv, "--cluster", _CLUSTER, "--state", "lost,unknown,pending"]
        command = [sys.executable, "-P", "-m", "halfcheck", *asked]
        done = subprocess.run(
            [*command, "--state", "lost,unknown,pending"], check=False, capture_output=True, text=True
        )
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        for name, broker in {called(one): one for one in (*self.masters, *self.slaves)}.items():
            lines = [line.replace(str(broker.address), name) for line in lines]
        heads = [line for line in done.stdout.splitlines() if line.startswith("It is a slave")]
        self.said += [(moment, line) for line in lines]
        wanted = ExitCode.BAD_CONTENT if any(audit.damage for audit in found.values()) else ExitCode.OK
        if done.returncode != wanted or len(heads) != sum("broker" in name and name[-1] != "0" for name in found):
            self.said.append((moment, f"exit code {done.returncode}: {done.stdout[-300:]}"))


def called(broker: AuditedBroker) -> str:
    """A broker's name and id."""
    return f"{broker.settings['brokerName']} {broker.settings['brokerId']}"


def _in_several(counts: Counter[str]) -> int:
    return sum(count > 1 for count in counts.values())


def _counted(audit: Audit) -> tuple[int, str]:
    """How many transactions, and how many in each state."""
    states = Counter(row.state for row in audit.transactions)
    return len(audit.transactions), ", ".join(f"{states[one]} {one}" for one in TransactionState if states[one])


def cluster_run(release: str, name: str) -> SeenCluster:
    """Lead two masters with a slave each through the run, and audit them at each of its moments."""
    with ExitStack() as stack:

        def started(group: str, number: int, joins: AuditedBroker | None) -> AuditedBroker:
            own = {"brokerName": group, "brokerId": str(number), "brokerRole": "SLAVE" if number else "ASYNC_MASTER"}
            settings = {**_SETTINGS, **CLUSTERS[name], **own}
            return stack.enter_context(AuditedBroker(release, name, settings, joins))

        first = started("broker-a", 0, None)
        second = started("broker-b", 0, first)
        slaves = started("broker-a", 1, first), started("broker-b", 1, first)
        cluster = _Cluster(release, name, (first, second), slaves)
        _lead(cluster)
        return SeenCluster(
            release=release,
            scenario=name,
            audited=tuple(cluster.audited),
            differences=tuple(cluster.differences),
            damage=tuple(cluster.damage),
            of_left=tuple(cluster.of_left),
            in_both=tuple(cluster.in_both),
            said=tuple(cluster.said),
        )


def _lead(cluster: _Cluster) -> None:
    (first, second), (slave, other_slave) = cluster.masters, cluster.slaves
    for master in cluster.masters:
        BrokerOperator(master.address).make_topic(_TOPIC, queues=_QUEUES)
    client = first.client(_GROUP)
    messages = _send(client)
    for number, message in messages.items():
        if number % len(_PLANS) >= _OPEN - 1:
            client.wait_for_checks(message, 1)
    cluster.audit("all four")
    other_slave.stop_broker()
    wait_until(lambda: _is_listed(cluster, other_slave) is False, "the slave that was stopped leaves the name server")
    cluster.audit("a slave stopped")
    wait_until(lambda: _log_end(slave) == _log_end(first), "the slave has all of its master's log")
    first.kill_broker()
    wait_until(lambda: _is_listed(cluster, first) is False, "the master that was killed leaves the name server")
    if CLUSTERS[cluster.name]:
        wait_until(lambda: _acts(slave), "the slave acts for its master")
        wait_until(lambda: _has_passed_all(slave), "the acting slave has passed all halves", _TAKEN_OVER_SECONDS)
    found = cluster.audit("its master killed")
    cluster.hold_against("its master killed", found[called(slave)], first)
    first.start_broker()
    wait_until(lambda: _is_listed(cluster, first) is True, "the master is back")
    for message in messages.values():
        client.expect(message, ClientPlan.of(UNKNOWN, COMMIT))
    comes(lambda: all(_has_passed_all(master) for master in cluster.masters), _OVER_SECONDS)
    cluster.audit("the master back")
    client.halt()
    for broker in (slave, first, second):
        broker.stop_broker()


def _send(client: Client) -> dict[int, ClientMessage]:
    """Halves of all plans to both masters, by their numbers."""
    messages = {n: ClientMessage(_TOPIC, f"two-{n}", "TagT", f"k{n}") for n in range(_HALVES)}
    for number, message in messages.items():
        client.send("P", message, _PLANS[number % len(_PLANS)])
        time.sleep(0.02)
    return messages


def _is_listed(cluster: _Cluster, broker: AuditedBroker) -> bool | None:
    """Whether the name server lists a broker; None where it does not answer."""
    groups = listed_groups(cluster.masters[0].ports)
    return any(broker.address in group.addresses.values() for group in groups) if groups else None


def _log_end(broker: AuditedBroker) -> int:
    with BrokerChannel(broker.address) as channel:
        return runtime_info(channel).log_end


def _acts(broker: AuditedBroker) -> bool:
    with BrokerChannel(broker.address) as channel:
        return runtime_info(channel).is_active is True


def _has_passed_all(broker: AuditedBroker) -> bool:
    """Whether the check service stands at the end of the half queue."""
    with BrokerChannel(broker.address) as channel:
        return check_offset(channel, HALF_TOPIC) == end_of_queue(channel, HALF_TOPIC)
