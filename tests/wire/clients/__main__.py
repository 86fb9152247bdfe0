"""``make test-clients``: leads real clients through the scenario against our broker, and says what each got.

It also says whether the specification explains what our broker recorded. ``--real`` leads them against the real broker
of their release instead, and has its store explained, and gRPC clients against the real proxy 5.5.0 in local and in
cluster mode; ``--record FOLDER`` keeps the store of a real broker, what went over the wire and the outcome.
``--goes-on`` lets a real broker of each release go on from a store of ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from conformance.releases.jars import GRPC_CLIENTS, TOOLS, fetched_jars, release_called
from real_brokers.clients.grpc_client import GRPC_NAMES, PYTHON
from real_brokers.clients.scenario_client import DIFFERS
from real_brokers.command_line import exit_code_after
from tests.wire.clients.brokers import our_broker
from tests.wire.clients.grpc_leading import CLUSTER, EXPECTED, LOCAL, OURS, OURS_CLUSTER, REAL_NAMES, lead_grpc
from tests.wire.clients.leading import CLIENTS, lead_ours, lead_real
from tests.wire.clients.mqadmin import ask_all
from tests.wire.clients.real_on_our_store import go_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.releases.jars import Release

OUTCOME: Final = Path(__file__).with_name("outcome.json")
"""What each client gets from the real broker of its release; it is the same for all of them."""

MQADMIN: Final = "mqadmin"
_REAL_AT_ONCE: Final = 2
_GLANCE_SECONDS: Final = 0.5
_INTERRUPTED: Final = "interrupted; clients and brokers are stopped"


def main(arguments: Sequence[str] | None = None) -> int:
    """Lead the clients that are named, or all, side by side.

    Returns
    -------
    int
        0 if each got what is expected and all is explained, else 12; 150 if the machine lacks something, 151 for a bad
        name.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.wire.clients", description=__doc__)
    names = (*CLIENTS, *GRPC_NAMES, MQADMIN)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(names)}; all if none is named")
    parser.add_argument("--real", action="store_true", help="lead it against the real broker of its release")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="as --real, and keep all in FOLDER/CLIENT")
    parser.add_argument("--goes-on", action="store_true", help="let real brokers go on from stores of ours")
    options = parser.parse_args(arguments)
    is_real = options.real or options.record is not None
    led = names if not is_real else (*CLIENTS, *REAL_NAMES) if options.record is None else tuple(CLIENTS)
    chosen = options.clients or list(led)
    unknown = [name for name in chosen if name not in led]
    if unknown:
        known = ", ".join(led)
        print(f"no client {unknown[0]!r} to lead{' there' if is_real else ''}; there are {known}", file=sys.stderr)
        return 151

    def work() -> int:
        if options.goes_on:
            return go_on()
        if len(chosen) > 1:
            return _side_by_side(chosen, options.record, is_real=is_real)
        return _lead_one(chosen[0], options.record, is_real=is_real)

    return exit_code_after(work, _INTERRUPTED)


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """In what two outcomes differ, a line each."""
    return [
        f"{key}: {found.get(key)}, expected {expected.get(key)}"
        for key in sorted(expected.keys() | found.keys())
        if expected.get(key) != found.get(key)
    ]


def _side_by_side(names: Sequence[str], record: Path | None, *, is_real: bool) -> int:
    """A process a client, each with a broker of its own; the gravest of their exit codes.

    Jars are fetched here, one release after the other, as two of Maven's processes would be in each other's way.
    """
    more = ["--record", str(record)] if record else ["--real"] if is_real else []
    at_once = _REAL_AT_ONCE if is_real else len(names)
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name in sorted(names, key=lambda name: name != "go"):
            if (release := _release_of(name, is_real=is_real)) is not None:
                fetched_jars(release)
            while sum(each.poll() is None for each in started) >= at_once:
                time.sleep(_GLANCE_SECONDS)
            command = [sys.executable, "-m", "tests.wire.clients", name, *more]
            # Of a session of its own, so that Ctrl-C is said once, here.
            started.append(subprocess.Popen(command, start_new_session=True))
        return max(each.wait() for each in started)
    finally:
        for each in started:
            if each.poll() is None:
                each.terminate()
        for each in started:
            each.wait()


def _release_of(name: str, *, is_real: bool) -> Release | None:
    """The jars that leading a client takes, and no other shares; None for none."""
    if name == MQADMIN:
        return TOOLS
    if name in GRPC_NAMES:
        return GRPC_CLIENTS.get(name)
    return release_called(CLIENTS[name]) if name != "go" or is_real else None


def _lead_one(name: str, record: Path | None, *, is_real: bool) -> int:
    with TemporaryDirectory(prefix="halfcheck-clients-") as temporary:
        folder = Path(temporary) if record is None else record.resolve() / name
        folder.mkdir(parents=True, exist_ok=True)
        if name == MQADMIN:
            return _ask_mqadmin(folder)
        if name in GRPC_NAMES:
            return max(_lead_grpc(name, where, folder) for where in _places(name, is_real=is_real))
        led = lead_real(name, folder) if is_real else lead_ours(name, folder)
    wrong = differences(json.loads(OUTCOME.read_text(encoding="utf-8")), led.outcome)
    lines = [
        f"{name}, {'the real' if is_real else 'our'} broker {CLIENTS[name]}: "
        f"{'as expected' if not wrong else 'differs'}; guarantees broken: {', '.join(led.broken) or 'none'}",
        *(f"  {line}" for line in wrong),
        f"  {led.explained}",
    ]
    print("\n".join(lines), flush=True)
    return 0 if not wrong and led.is_explained else DIFFERS


def _places(name: str, *, is_real: bool) -> tuple[str, ...]:
    """Before whom a gRPC client is led; before two proxies of ours, that in Python alone."""
    if is_real:
        return LOCAL, CLUSTER
    return (OURS, OURS_CLUSTER) if name == PYTHON else (OURS,)


def _lead_grpc(name: str, where: str, folder: Path) -> int:
    """Whether a gRPC client got something else than it must there; its scenario is one of its own."""
    wrong = differences(EXPECTED, lead_grpc(name, where, folder))
    said = "as expected" if not wrong else "differs"
    print("\n".join([f"{name}, {where}: {said}", *(f"  {line}" for line in wrong)]), flush=True)
    return DIFFERS if wrong else 0


def _ask_mqadmin(folder: Path) -> int:
    """Whether some command of mqadmin did not say what it must; it has no scenario."""
    with our_broker("5.5.0", folder) as broker:
        wrong = ask_all(broker)
    print(
        "\n".join(
            [f"mqadmin 5.5.0: {'all commands answered' if not wrong else 'differs'}", *(f"  {line}" for line in wrong)]
        ),
        flush=True,
    )
    return DIFFERS if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
