"""Writes the plan of one broker, and sends what is decided in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from document.console import show
from halfcheck.auditing.options import refuse
from halfcheck.auditing.places import require_new_or_a_file
from halfcheck.errors import ExitCode
from halfcheck.options import print_json
from halfcheck.plan.plan import carried_over, read_plan, write_plan
from halfcheck.plan.planning import plan_for
from halfcheck.plan.sending import send_plan
from halfcheck.printing.plan import sent_in_words
from wire.client.channel import BrokerChannel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from halfcheck.auditing.options import AuditOptions
    from halfcheck.plan.plan import BrokerPlan
    from halfcheck.running_broker import BrokerAudit
    from wire.client.channel import Address


def earlier_plan(file: Path, address: Address) -> BrokerPlan | None:
    """The plan whose place a new one takes, and which lends it its decisions; None if there is none."""
    require_new_or_a_file("--plan", file)
    if not file.exists():
        return None
    earlier = read_plan(file)
    if earlier.broker != str(address):
        message = f"--plan {file} is a plan for {earlier.broker}; give another file for {address}"
        raise typer.BadParameter(message)
    return earlier


def planned(file: Path, earlier: BrokerPlan | None, address: Address, found: BrokerAudit, copy: Path) -> BrokerPlan:
    """The plan, written."""
    with BrokerChannel(address) as channel:
        plan = plan_for(found, copy, channel)
    if earlier is not None:
        plan = carried_over(plan, earlier)
    write_plan(file, plan)
    return plan


def send(options: AuditOptions, addresses: Sequence[Address]) -> ExitCode:
    """What is decided in a plan's file, sent."""
    if options.plan is None:
        message = "--yes: give --plan FILE, the plan that was shown"
        raise typer.BadParameter(message)
    refuse(
        (
            *options.selecting, ("--version", options.version), ("--copy", options.copy), *options.files,
            ("--fail-on", options.fail_on),
        ),
        "it is for an audit; --plan FILE --yes sends all that is decided in FILE",
    )  # fmt: skip
    sent = send_plan(options.plan, addresses[0])
    if options.as_json:
        print_json(sent.plan.to_json())
    else:
        show(sent_in_words(sent.plan, sent.numbers))
    if sent.stopped:
        typer.echo(f"halfcheck: {options.plan}: {sent.stopped}", err=True)
    return ExitCode.BAD_CONTENT if sent.stopped else ExitCode.OK
