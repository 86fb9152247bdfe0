"""The configuration of name server and broker in a run: small files, short intervals, loopback only, logs in a place.

``@RUN@`` stands for the folder of the run in the ``broker.conf`` of the archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from real_brokers.errors import RealBrokerError
from real_brokers.loopback import LOOPBACK, Ports

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.releases.jars import Release

RUN: Final = "@RUN@"

_OF_ALL: Final = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": "broker-a",
    "brokerId": "0",
    "brokerIP1": LOOPBACK,
    "storePathRootDir": f"{RUN}/store",
    "storePathCommitLog": f"{RUN}/store/commitlog",
    "mappedFileSizeCommitLog": "1048576",
    "mappedFileSizeConsumeQueue": "20000",
    "maxHashSlotNum": "1000",
    "maxIndexNum": "4000",
    "deleteWhen": "04",
    "fileReservedTime": "48",
    "diskMaxUsedSpaceRatio": "95",
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "flushDiskType": "ASYNC_FLUSH",
    "brokerRole": "ASYNC_MASTER",
    "transactionTimeOut": "1000",
    "transactionCheckInterval": "1000",
    "transactionCheckMax": "15",
    "osPageCacheBusyTimeOutMills": "10000",
    "waitTimeMillsInSendQueue": "10000",
    "flushConsumerOffsetInterval": "1000",
}
_OF_5: Final = {"bindAddress": LOOPBACK, "timerWheelEnable": "false", "transactionOpBatchInterval": "200"}

LOGBACK: Final = """<configuration>
  <appender name="T" class="{package}ch.qos.logback.core.FileAppender"><file>{run}/transaction.log</file>
    <encoder><pattern>%d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %t - %m%n</pattern></encoder></appender>
  <appender name="L" class="{package}ch.qos.logback.core.FileAppender"><file>{run}/{process}.log</file>
    <encoder><pattern>%d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %t %c - %m%n</pattern></encoder></appender>
  <logger name="RocketmqTransaction" additivity="false" level="DEBUG"><appender-ref ref="T"/></logger>
  <root level="INFO"><appender-ref ref="L"/></root>
</configuration>
"""
"""Where a process logs: what it says of transactions on its own."""


def settings_of_conf(release: Release, ports: Ports, changed: Mapping[str, str]) -> dict[str, str]:
    """The settings of a broker by their names in ``broker.conf``.

    Parameters
    ----------
    release, ports
        Whose, and where it listens.
    changed
        Settings that are other than in each run, or further ones; an empty value leaves a setting out.

    Raises
    ------
    RealBrokerError
        A changed setting moves the broker away from its folder or from loopback.
    """
    own = _OF_5 if release.is_5 else {}
    fixed = {
        "listenPort": str(ports.broker),
        "haListenPort": str(ports.high_availability),
        "namesrvAddr": str(ports.name_server_address),
    }
    settings = {**_OF_ALL, **fixed, **own}
    own_places = fixed.keys() | {"brokerIP1", "bindAddress", "storePathRootDir", "storePathCommitLog"}
    for name, value in changed.items():
        if name in own_places:
            message = f"{name} is set by the run itself, so that the broker stays in its folder and on loopback"
            raise RealBrokerError(message, exit_code=151)
        settings.pop(name, None)
        if value:
            settings[name] = value
    if release.spells_maped:
        for name in ("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue"):
            settings[name.replace("mapped", "maped")] = settings[name]
    return settings


def conf_text(settings: Mapping[str, str]) -> str:
    """Settings as the text of ``broker.conf``."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def write_configuration(run: Path, release: Release, ports: Ports, settings: Mapping[str, str]) -> None:
    """Write the files that both processes read: ``broker.conf``, ``namesrv.conf`` and where they log."""
    (run / "broker.conf").write_text(conf_text(settings).replace(RUN, str(run)), encoding="utf-8")
    bound = f"bindAddress={LOOPBACK}\n" if release.is_5 else ""
    (run / "namesrv.conf").write_text(f"listenPort={ports.name_server}\n{bound}", encoding="utf-8")
    for process in ("broker", "namesrv", "proxy"):
        own, old = run / f"conf-{process}", run / "conf"
        for folder in (own, old):
            folder.mkdir(parents=True, exist_ok=True)
        shaded = LOGBACK.format(package="org.apache.rocketmq.logging.", run=run, process=process)
        (own / f"rmq.{process}.logback.xml").write_text(shaded, encoding="utf-8")
        plain = LOGBACK.format(package="", run=run, process=process)
        (old / f"logback_{process}.xml").write_text(plain, encoding="utf-8")
