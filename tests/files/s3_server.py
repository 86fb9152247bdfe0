"""A real S3 server on loopback, SeaweedFS, with a bucket; it can be killed, and started again with what it holds."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

BUCKET: Final = "bucket"
KEY, SECRET = "tester", "in-tests-alone"
_IDENTITIES: Final = (
    '{"identities": [{"name": "tester", "credentials": [{"accessKey": "%s", "secretKey": "%s"}],'
    ' "actions": ["Admin", "Read", "Write", "List"]}]}'
)
_LONGEST_START_SECONDS: Final = 120.0


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens to, each with one 10,000 above that is free, too: it is for gRPC."""
    found: list[int] = []
    sockets: list[socket.socket] = []
    try:
        while len(found) < count:
            one, other = socket.socket(), socket.socket()
            sockets += one, other
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port + 10_000 > 65_535:
                continue
            try:
                other.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            found.append(port)
    finally:
        for each in sockets:
            each.close()
    return found


@dataclass
class S3Server:
    """SeaweedFS in a folder: master, volumes, filer and S3 gateway in one process."""

    folder: Path
    ports: list[int] = field(default_factory=lambda: free_ports(4))
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """The address of the gateway."""
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a client finds it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def start(self) -> S3Server:
        """Start it, and wait until the bucket is there."""
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        identities = self.folder / "identities.json"
        identities.write_text(_IDENTITIES % (KEY, SECRET), encoding="utf-8")
        s3, master, volume, filer = self.ports
        command = [
            str(Path(sysconfig.get_path("scripts")) / "weed"), "server",
            f"-dir={self.folder / 'data'}",
            "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", f"-s3.config={identities}", f"-s3.port={s3}", "-s3.iam=false",
            "-s3.port.iceberg=0", "-s3.port.lance=0", f"-master.port={master}", f"-volume.port={volume}",
            f"-filer.port={filer}",
            "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=40",
        ]  # fmt: skip
        with (self.folder / "weed.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=_without_proxies())
        self._wait_for_the_bucket()
        return self

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
            for port in self.ports:
                for kind in ("filer", "filer-grpc", "s3", "s3-grpc", "master-grpc", "volume-grpc", "volume"):
                    for number in (port, port + 10_000):
                        Path(tempfile.gettempdir(), f"seaweedfs-{kind}-{number}.sock").unlink(missing_ok=True)

    def _wait_for_the_bucket(self) -> None:
        options: Any = {
            "access_key_id": KEY,
            "secret_access_key": SECRET,
            "region": "us-east-1",
            "endpoint": self.endpoint,
        }
        again: Any = {"max_retries": 0}
        bucket = S3Store(BUCKET, config=options, client_options={"allow_http": True}, retry_config=again)
        until = time.monotonic() + _LONGEST_START_SECONDS
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "weed.log").read_text(encoding="utf-8")[-2000:]
            try:
                _make_bucket(self.ports[3])
                obstore.put(bucket, ".started", b"", use_multipart=False)
            except (BaseError, HTTPException, OSError):
                time.sleep(0.2)
            else:
                return
        message = f"no S3 server after {_LONGEST_START_SECONDS:.0f} s"
        raise TimeoutError(message)


def _make_bucket(filer: int) -> None:
    """A bucket is a folder of the filer's."""
    connection = HTTPConnection("127.0.0.1", filer, timeout=5)
    try:
        connection.request("POST", f"/buckets/{BUCKET}/")
        connection.getresponse().read()
    finally:
        connection.close()


def _without_proxies() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
