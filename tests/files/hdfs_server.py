"""HDFS on loopback out of Hadoop's own jars: a NameNode and two DataNodes, each a JVM of its own, which can be killed.

Each block lies on both, so that a file may be closed before they have reported its last block, as the setting
``dfs.namenode.file.close.num-committed-allowed`` has it; with one alone a client that is early waits half a second.

The client's jars are those that PySpark brings; the servers' come in one jar from Maven, of the same release.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyspark
from hdfs_native import Client, WriteOptions

from tests.files.s3_server import free_ports

_JARS: Final = Path(pyspark.__path__[0]) / "jars"
_LONGEST_START_SECONDS: Final = 600.0
_SERVERS: Final = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode-1": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "datanode-2": "org.apache.hadoop.hdfs.server.datanode.DataNode",
}


def server_jar(folder: Path) -> Path:
    """The jar of the servers, fetched by Maven into a folder if it is not there."""
    release = next(_JARS.glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
    jar = folder / f"hadoop-client-minicluster-{release}.jar"
    if not jar.exists():
        artifact = f"org.apache.hadoop:hadoop-client-minicluster:{release}"
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        subprocess.run(command, check=True)
    return jar


@dataclass
class HdfsServer:
    """A NameNode and two DataNodes in a folder."""

    folder: Path
    jar: Path
    ports: list[int] = field(default_factory=lambda: free_ports(8))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The root of its files."""
        return f"hdfs://127.0.0.1:{self.ports[0]}/"

    def start(self) -> HdfsServer:
        """Start all, and wait until a file can be written."""
        conf = self.folder / "conf"
        if not conf.exists():
            conf.mkdir(parents=True)
            self._configure(conf)
            self._java("format", _SERVERS["namenode"], "-format", "-nonInteractive").wait()
        for name in _SERVERS:
            self.begin(name)
        client = Client(self.uri, {"dfs.client.failover.max.attempts": "1"})
        until = time.monotonic() + _LONGEST_START_SECONDS
        while time.monotonic() < until:
            try:
                with client.create("/.started", WriteOptions(overwrite=True)) as file:  # an earlier try leaves it empty
                    file.write(b"1")
                client.delete("/.started")
            except (OSError, RuntimeError):
                time.sleep(0.5)
            else:
                return self
        message = f"no HDFS after {_LONGEST_START_SECONDS:.0f} s"
        raise TimeoutError(message)

    def begin(self, name: str) -> None:
        """Start one of them."""
        self.processes[name] = self._java(name, _SERVERS[name], *self._options(name))

    def kill(self, name: str | None = None) -> None:
        """Kill one of them, or all, with SIGKILL."""
        for which in [name] if name else list(self.processes):
            process = self.processes.pop(which)
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _options(self, name: str) -> list[str]:
        """What differs between the DataNodes."""
        kind, _, number = name.partition("-")
        if kind != "datanode":
            return []
        data, ipc, http = (f"127.0.0.1:{port}" for port in self.ports[3 * int(number) - 1 :][:3])
        settings = {
            "dfs.datanode.data.dir": str(self.folder / name),
            "dfs.datanode.address": data,
            "dfs.datanode.ipc.address": ipc,
            "dfs.datanode.http.address": http,
        }
        return [f"-D{key}={value}" for key, value in settings.items()]

    def _java(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        patterns = ("hadoop-client-*.jar", "slf4j-api-*.jar", "log4j-*.jar", "jcl-over-slf4j-*.jar")
        jars = [str(path) for pattern in patterns for path in sorted(_JARS.glob(pattern))]
        classes = os.pathsep.join([str(self.folder / "conf"), str(self.jar), *jars])
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={self.folder}"]
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(["java", *options, "-cp", classes, *words], stdout=log, stderr=log, cwd=self.folder)

    def _configure(self, conf: Path) -> None:
        rpc, http = (f"127.0.0.1:{port}" for port in self.ports[:2])
        settings = {
            "fs.defaultFS": f"hdfs://{rpc}",
            "hadoop.tmp.dir": str(self.folder / "tmp"),
            "dfs.replication": "2",
            "dfs.namenode.http-address": http,
            "dfs.namenode.safemode.extension": "0",
            "dfs.namenode.file.close.num-committed-allowed": "1",
            "dfs.permissions.enabled": "false",
        }
        rows = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
        )
        for name in ("core-site.xml", "hdfs-site.xml"):
            (conf / name).write_text(f"<configuration>{rows}</configuration>\n", encoding="utf-8")
        (conf / "log4j2.properties").write_text(
            "rootLogger.level = warn\nrootLogger.appenderRef.stdout.ref = console\nappender.console.type = Console\n"
            "appender.console.name = console\nappender.console.layout.type = PatternLayout\n"
            "appender.console.layout.pattern = %d %p %c: %m%n\n",
            encoding="utf-8",
        )
