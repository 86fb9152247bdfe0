"""What an operator asks and changes with ``mqadmin`` of 5.5.0: each command, and what it must print."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import TOOLS, fetched_jars
from conformance.releases.jvm import java_command
from reference.format.stored_message import create_message_id
from tests.wire.one_producer import OneProducer, unique_key
from wire.client.transactions import COMMIT
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from tests.wire.clients.brokers import LedBroker

_MAIN: Final = "org.apache.rocketmq.tools.command.MQAdminStartup"
_SECONDS: Final = 60


def commands(address: str, message_id: str) -> dict[str, tuple[list[str], str]]:
    """By the command's name its arguments and a pattern of what it prints."""
    topic = ["-t", "Orders"]
    return {
        "clusterList": ([], rf"DefaultCluster +broker-a +0 +{address} +V5_5_0"),
        "topicRoute": (topic, rf'"brokerAddrs":\{{\s*0:"{address}"'),
        "topicList": ([], r"(?m)^Orders$"),
        "topicStatus": (topic, r"broker-a +1 +0 +2 +\d"),
        "consumerProgress": (["-g", "readers"], r"Orders +broker-a +1 +2 +1 +1 "),
        "queryMsgById": ([*topic, "-i", message_id], r"Keys: +\[order-1\]"),
        "queryMsgByUniqueKey": ([*topic, "-i", unique_key("order-1")], r"Queue Offset: +0"),
        "queryMsgByKey": ([*topic, "-k", "order-1"], rf"{unique_key('order-1')} +1 +0"),
        "updateBrokerConfig": (["-b", address, "-k", "transactionCheckMax", "-v", "4"], "update broker config success"),
        "getBrokerConfig": (["-b", address], r"transactionCheckMax += +4"),
        "updateTopic": (["-b", address, "-t", "New", "-r", "2", "-w", "2"], "readQueueNums=2"),
        "deleteTopic": (["-c", "DefaultCluster", "-t", "New"], r"delete topic \[New\] from NameServer success"),
        "consumerConnection": (["-g", "readers"], r"Orders +\*"),
        "brokerStatus": (["-b", address], r"brokerVersionDesc +: V5_5_0"),
    }


def ask_all(broker: LedBroker) -> list[str]:
    """Ask everything; a line for each command that did not say what it must."""
    classes = f"{fetched_jars(TOOLS)}/*"
    java = [*java_command(broker.folder, "128m"), f"-Drocketmq.client.logRoot={broker.folder}", "-cp", classes, _MAIN]
    wrong = []
    with OneProducer(broker.address) as client:
        client.heartbeat("readers")
        client.end(client.half("order-1"), COMMIT)
        client.send_message("order-2", is_half=False)
        read = {"consumerGroup": "readers", "topic": "Orders", "queueId": 1, "commitOffset": 1}
        client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, read)
        message_id = create_message_id(broker.address, client.pulled()[0].physical_offset)
        for name, (arguments, pattern) in commands(broker.address, message_id).items():
            done = subprocess.run(
                [*java, name, "-n", broker.address, *arguments],
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
            )
            if not re.search(pattern, done.stdout):
                said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
                wrong.append(f"{name}: {pattern!r} is not in what it printed, which ends with {said[-1:]}")
    return wrong
