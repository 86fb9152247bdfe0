"""What ``halfcheck broker`` prints: where it is, and in the end what the run broke."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from halfcheck.printing.console import below, counted, say, wide_console

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.broker.run_verdict import RunVerdict
    from wire.service import Told

_NAMED = 3


def print_start(told: Told, profile: str, store: Path | None, *, as_json: bool) -> None:
    """Print what a client, and whoever controls the broker, must know; at once, also into a pipe."""
    if as_json:
        content = {"address": told.address, "control": told.control, "token": told.token}
        print(json.dumps(content), flush=True)
        return
    print(f"broker {profile}, and its name server: {told.address}")
    print(f"control: {told.control} token {told.token}")
    print(f"store: {store or 'temporary'}; stop with Ctrl-C", flush=True)


def print_verdict(verdict: RunVerdict, trace: Path | None) -> None:
    """Print which guarantees the run broke, and which defects its transactions resemble."""
    console = wide_console()
    for broken in verdict.broken:
        say(console, f"{broken.property_id} broken at event {broken.event}: {broken.sentence}")
    for defect, keys in verdict.resembles.items():
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        say(console, f"{counted(len(keys), 'transaction')} like {defect}: {', '.join(keys[:_NAMED])}{more}")
        below(console, f"halfcheck defects {defect} shows it.")
    if not verdict.broken:
        say(console, "no guarantee was broken that a trace shows")
    if verdict.audit is not None:
        counts = ", ".join(f"{count} {state}" for state, count in verdict.audit.counts.items() if count) or "none"
        say(console, f"{counted(verdict.audit.total, 'transaction')}: {counts}")
    else:
        long = "the run was long; halfcheck audit STORE_DIR says what became of each transaction"
        say(console, long if verdict.has_stored else "nothing was stored")
    if trace is not None:
        say(console, f"trace: {trace}")
