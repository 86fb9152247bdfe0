"""``make proxy-stores``: what a real proxy and ours make of the same words of a client, byte by byte.

A Python client is led before a real proxy 5.5.0 in local mode. What it said and was answered, and the store that the
broker in there has left, are kept in ``stores/``. What it said is said again to ours, and the two stores are compared.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.compare_stores import StoreComparison, StoreSide, compare_stores
from files.reading import read_text
from files.writing import write_whole
from halfcheck.errors import ExitCode
from real_brokers.clients.grpc_client import GrpcClient
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.proxy.real_proxy import LocalProxy
from real_brokers.proxy.relay import GrpcRelay, Said
from real_brokers.proxy.said_again import say_again
from real_brokers.proxy.topics import TOPIC, BrokerOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

STORES: Final = Path(__file__).with_name("stores")
"""A folder a scenario: ``commitlog``, ``consumequeue``, the saved offsets, ``broker.conf`` and ``said.jsonl``."""

MAY_DIFFER: Final = frozenset((("", "born_timestamp"), ("", "store_timestamp"), ("", "born_host"), ("", "store_host")))
"""In all records: when a record was born and stored, as ours goes by a clock of its own, and where that was. When its
client says that it was born, and the id that it gives, stand among the properties, which are compared."""

SCENARIOS: Final = {
    "committed": ("send Orders one commit",),
    "rolled-back": ("send Orders one rollback",),
    "checked": ("answer unknown", "send Orders one leave"),
}
"""By name, the orders of a client; behind those of `checked` come an answer unknown and an answer commit."""

_SETTINGS: Final = {"transactionTimeOut": "3000", "transactionCheckInterval": "4000"}
_CONF: Final = (*_SETTINGS, "mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "transactionOpBatchInterval")
_CHECK_SECONDS: Final = 60.0
_SETTLE_SECONDS: Final = 12.0
"""A round or two, and the first saving of offsets."""


def record(name: str, folder: Path) -> None:
    """Lead a client before a real proxy, and leave in a folder what is kept of it."""
    with LocalProxy(name, _SETTINGS) as proxy, TemporaryDirectory() as temporary:
        BrokerOperator(proxy.address).make_topic()
        with (
            GrpcRelay(proxy.grpc_address) as relay,
            GrpcClient(relay.address, proxy.run, topics=(TOPIC,)) as client,
        ):
            for order in SCENARIOS[name]:
                client.order(order)
            if name == "checked":
                client.wait_for("checked", "one", "unknown", _CHECK_SECONDS)
                client.order("answer commit")
                client.wait_for("checked", "one", "commit", _CHECK_SECONDS)
            time.sleep(_SETTLE_SECONDS)
            client.order("end")
        whole = Path(temporary) / "store"
        proxy.finish(whole)
        shutil.rmtree(folder, ignore_errors=True)
        for kept in ("commitlog", "consumequeue"):
            shutil.copytree(whole / kept, folder / kept)
        (folder / "config").mkdir()
        shutil.copy(whole / "config" / "consumerOffset.json", folder / "config")
        conf = {name: value for name, value in proxy.settings.items() if name in _CONF}
        write_whole(folder / "broker.conf", "".join(f"{name}={value}\n" for name, value in conf.items()))
        write_whole(folder / "said.jsonl", "".join(f"{_line_of(each)}\n" for each in relay.said))


def _line_of(said: Said) -> str:
    return json.dumps([said.call, said.is_from_client, said.content.hex(), said.headers])


def read_said(folder: Path) -> list[Said]:
    """What was said in the run of a folder."""
    rows = map(json.loads, read_text(folder / "said.jsonl").splitlines())
    return [
        Said(call, is_from_client, bytes.fromhex(content), tuple((key, value) for key, value in headers))
        for call, is_from_client, content, headers in rows
    ]


@dataclass(frozen=True, slots=True)
class SaidAgain:
    """A scenario of a folder, said again to our broker."""

    answers: list[str]
    """In what its answers differ."""
    stores: StoreComparison
    """Of the store that the real broker has left with ours."""


def compare(folder: Path) -> SaidAgain:
    """Say again what was said in the run of a folder, and compare."""
    with TemporaryDirectory() as temporary:
        store = Path(temporary) / "store"
        answers = say_again(read_said(folder), folder / "broker.conf", store)
        sides = StoreSide.of_directory(folder), StoreSide.of_directory(store)
        return SaidAgain(answers, compare_stores(*sides, may_differ=MAY_DIFFER))


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what is named, or all, and compare; the exit code is 0, or 12 if something differs."""
    parser = OneLineParser(prog="python -m real_brokers.proxy.stores", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; all if none")
    parser.add_argument("--kept", action="store_true", help="compare what is kept, and record nothing")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.scenarios if name not in SCENARIOS]:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(SCENARIOS)}")

    def work() -> int:
        differ = False
        for name in options.scenarios or SCENARIOS:
            if not options.kept:
                record(name, STORES / name)
            found = compare(STORES / name)
            difference = found.stores.difference
            differ |= bool(found.answers) or difference is not None
            said = "identical" if difference is None else f"DIFFERENT: {difference}"
            print(f"{name:12} {found.stores.records:3} records {found.stores.bytes:6} bytes  {said}")
            print("".join(f"  {line}\n" for line in found.answers), end="", flush=True)
        return ExitCode.SAFETY_VIOLATED if differ else ExitCode.OK

    return exit_code_after(work)


if __name__ == "__main__":
    sys.exit(main())
