"""``halfcheck check``: which guarantees a version gives, and the shortest schedule that breaks the others."""

from __future__ import annotations

import json
import os
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.errors import CommandLineError
from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from model_check.check import CheckResult
    from model_check.counterexample.files import Written
    from model_check.coverage import Coverage


def command(
    *,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="PROFILE",
            help="4.5.1, 4.9.7, 5.3.3 (if none is given) or 5.4.0; +NAME or -NAME turns a switch.",
        ),
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(
            help="How large: tiny, patient, odd, skewed, deep, small (usual), trio, medium, large, shared, or a .toml."
        ),
    ] = None,
    faults: Annotated[
        str, typer.Option(metavar="FAULT,…", help="What may go wrong, for example crash,lose_end. Nothing: quiet.")
    ] = "",
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="S1, or one clause: S1.immune_half. May be repeated."),
    ] = None,
    reading: Annotated[
        str, typer.Option(help="numba; cpython, the slow judge; or z3, bounded model checking.")
    ] = "numba",
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Threads of the compiled search, 1; with --minimal-faults all processors."),
    ] = None,
    max_depth: Annotated[int, typer.Option(min=0, help="How many steps z3 looks ahead.")] = 20,
    max_states: Annotated[
        int | None, typer.Option(min=1, help="Stop when so many states are stored; what is not violated is unknown.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory for states and hash table, such as 8G. Nothing: what is available."),
    ] = None,
    disk: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where states go when memory ends. Nothing: a temporary folder."),
    ] = None,
    no_disk: Annotated[bool, typer.Option("--no-disk", help="Stop when memory ends.")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Save the search there now and then, and when it ends.")
    ] = None,
    checkpoint_every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How often the search is saved.")
    ] = 60.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what --checkpoint DIR holds.")] = False,
    fingerprints: Annotated[
        bool,
        typer.Option("--fingerprints", help="Keep a hash of 64 bits for each state; how likely a miss is, is said."),
    ] = False,
    itf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the first counterexample as ITF JSON.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a sequence diagram.")] = None,
    mermaid: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a Mermaid diagram.")] = None,
    pytest: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it as a test, ready to be kept.")] = None,
    minimal_faults: Annotated[
        bool, typer.Option("--minimal-faults", help="Find all minimal sets of faults that break each clause.")
    ] = False,
    most_faults: Annotated[int, typer.Option(min=0, max=4, help="How many faults at once --minimal-faults tries.")] = 2,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With --minimal-faults: use no search that an earlier run has kept.")
    ] = False,
    broker_conf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Judge this broker.conf: its times, in an instance of tiny or deep sizes."),
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="V", help="With --broker-conf: the broker's version (else --profile).")
    ] = None,
    immunity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME", help="With --broker-conf: some messages are immune so long: 60s. May be repeated."
        ),
    ] = None,
    local: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="With --broker-conf: each commit or rollback has arrived by then: 2s."),
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Count which rules of which guards were ever the first to be false.")
    ] = False,
    width: Annotated[bool, typer.Option("--width", help="Only say how wide a state of the instance is.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """Search every reachable state of the specification and give a verdict on each property.

    A property holds to the bound of the instance, or is violated, with the shortest schedule that shows it, or is
    unknown when the search was cut short. The exit code is 12 when a property is violated, 0 when all hold, 255 when
    the search was cut short by --max-states and found no violation, 130 when it was interrupted and found none.

    With --minimal-faults, every clause gets all minimal sets of faults that break it, the quiet world first, in all
    profiles or in those given; --faults says of which faults, of all if it is not given. Finished searches are kept, so
    that an interrupted run goes on where it stopped.

    Examples
    --------
    halfcheck check --profile 5.3.3
    halfcheck check --profile 4.9.7 --faults crash --property S10 --instance tiny
    halfcheck check --instance medium --width
    halfcheck check --instance small --faults slow_round --coverage
    halfcheck check --instance medium --faults crash --threads 2 --memory 8G --checkpoint DIR
    halfcheck check --instance medium --faults crash --threads 2 --memory 8G --checkpoint DIR --resume
    halfcheck check --profile 5.4.0 --faults slow_local,lose_end --threads 2 --json
    halfcheck check --instance tiny --property S1.immune_half --reading z3 --max-depth 15
    halfcheck check --minimal-faults --profile 4.9.7 --profile 5.3.3 --instance tiny --property S1
    halfcheck check --instance tiny --property S1.immune_half --itf b01.itf.json --svg b01.svg --pytest test_b01.py
    halfcheck check --broker-conf broker.conf --version 5.3.3 --immunity 60s
    """
    from halfcheck.search_progress import search_progress
    from model_check.check import check
    from model_check.counterexample.files import Written, refuse_unwritable
    from model_check.explicit.memory import bytes_of
    from model_check.explicit.resources import EXACT, Resources

    files = Written(itf, svg, mermaid, pytest)
    of_files: dict[str, object] = {"--itf": itf, "--svg": svg, "--mermaid": mermaid, "--pytest": pytest}
    of_broker_conf: dict[str, object] = {"--version": version, "--immunity": immunity or None, "--local": local}
    of_one_search: dict[str, object] = {
        "--memory": memory,
        "--disk": disk,
        "--no-disk": no_disk,
        "--checkpoint": checkpoint,
        "--resume": resume,
        "--fingerprints": fingerprints,
        "--coverage": coverage,
        "--width": width,
    }
    chosen = [name for name in (part.strip() for part in faults.split(",")) if name]
    if minimal_faults:
        from halfcheck.minimal_faults import run_minimal_faults

        _refuse(
            {**of_one_search, **of_files, **of_broker_conf, "--broker-conf": broker_conf}
            | {"--reading": None if reading == "numba" else reading},
            "does not go with --minimal-faults, which searches many environments in memory",
        )
        return run_minimal_faults(
            profiles or (),
            instance or "small",
            properties or (),
            chosen,
            most_faults=most_faults,
            threads=threads or os.cpu_count() or 1,
            most_states=max_states,
            fresh=fresh,
            as_json=as_json,
        )
    if broker_conf is not None:
        _refuse(
            {**of_one_search, **of_files, "--fresh": fresh},
            "does not go with --broker-conf, which searches in memory and tells its schedules in words and JSON",
        )
        from halfcheck.broker_conf_check import check_broker_conf

        return check_broker_conf(
            broker_conf,
            version or _only_profile(profiles),
            immunity or [],
            local,
            chosen,
            instance,
            as_json=as_json,
            properties=properties or (),
            reading=reading,
            threads=threads or 1,
            most_steps=max_depth,
            most_states=max_states,
        )
    if any(value is not None for value in of_broker_conf.values()):
        message = "--version, --immunity and --local speak of a broker.conf: give --broker-conf FILE, too"
        raise CommandLineError(message)
    _refuse({"--fresh": fresh}, "speaks of the searches that --minimal-faults keeps")
    profile = _only_profile(profiles)
    instance = instance or "small"
    if width:
        _print_width(profile, instance, as_json=as_json)
        return ExitCode.OK
    refuse_unwritable(files)
    resources = Resources(
        memory=None if memory is None else bytes_of(memory),
        disk=disk,
        spill=not no_disk,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
        fingerprint_bits=64 if fingerprints else EXACT,
    )
    with search_progress(f"{profile} {instance}", wanted=not as_json) as report:
        result = check(
            profile,
            chosen,
            instance,
            properties=properties or (),
            reading=reading,
            threads=threads or 1,
            most_steps=max_depth,
            most_states=max_states,
            coverage=coverage,
            report=report,
            resources=resources,
        )
    _write(result, files)
    if as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        _print(result)
        if result.coverage is not None:
            _print_coverage(result.coverage)
    if result.is_violated:
        return ExitCode.SAFETY_VIOLATED
    if result.complete:
        return ExitCode.OK
    is_at_its_bound = reading == "z3" or (max_states is not None and result.distinct >= max_states)
    return ExitCode.OTHER if is_at_its_bound else ExitCode.INTERRUPTED


def _only_profile(profiles: list[str] | None) -> str:
    if profiles and len(profiles) > 1:
        message = f"--profile {' --profile '.join(profiles)}: give one profile, or --minimal-faults"
        raise CommandLineError(message)
    return profiles[0] if profiles else "5.3.3"


def _refuse(given: dict[str, object], why: str) -> None:
    """What was given although it would have no effect."""
    for option, value in given.items():
        if value is not None and value is not False:
            message = f"{option} {why}; leave it out"
            raise CommandLineError(message)


def _print_width(profile: str, instance: str, *, as_json: bool) -> None:
    from halfcheck.counterexample_table import wide_console
    from halfcheck.fitting_table import FittingTable
    from model_check.explicit.width import state_width
    from model_check.instances import constants_for
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    measured = state_width(TRANSACTIONAL_MESSAGES, constants_for(profile, (), instance))
    if as_json:
        print(json.dumps(measured.to_json(), indent=2))
        return
    table = FittingTable("field", ">from", ">to", ">elements", ">bits")
    for field in measured.fields:
        table.add_row(field.name, str(field.low), str(field.high), str(field.elements), str(field.bits))
    console = wide_console()
    console.print(table)
    console.print(
        f"{measured.bits} bits in {measured.words} words of 64, {measured.unused} unused; "
        f"{measured.steps} steps are tried on each state"
    )


def _write(result: CheckResult, wanted: Written) -> None:
    """Write the shortest counterexample in the forms that were asked for; without one, nothing is written."""
    from model_check.counterexample.files import Written, write_files

    if wanted == Written():
        return
    violated = sorted((row for row in result.clauses if row.path is not None), key=lambda row: row.depth or 0)
    if violated:
        write_files(result, violated[0], wanted)
    else:
        typer.echo("halfcheck: no property is violated, so no counterexample is written", err=True)


def _print_coverage(coverage: Coverage) -> None:
    from halfcheck.counterexample_table import wide_console
    from halfcheck.coverage_table import action_table, claim_table

    console = wide_console()
    for table in (action_table(coverage), claim_table(coverage)):
        console.print()
        console.print(table)


def _print(result: CheckResult) -> None:
    from rich.text import Text

    from halfcheck.counterexample_table import counterexample_table, wide_console
    from halfcheck.fitting_table import FittingTable

    console = wide_console()
    world = "with " + ", ".join(result.faults) if result.faults else "in the quiet world"
    sizes = result.instance
    console.print(
        f"RocketMQ {result.profile} {world}, instance {sizes.name}: {sizes.transactions} transactions, "
        f"{sizes.half_slots} half slots, {sizes.op_slots} op slots"
    )
    table = FittingTable("property", "clause", "verdict", "depth", "resembles", "~rule")
    colours = {"holds": "green", "violated": "bold red", "unknown": "yellow"}
    for row in result.clauses:
        table.add_row(
            row.clause.identifier,
            row.clause.clause,
            Text(row.verdict.value, style=colours[row.verdict.value]),
            "" if row.depth is None else str(row.depth),
            " ".join(row.resembles),
            row.clause.sentence,
        )
    console.print(table)
    for row in sorted((r for r in result.clauses if r.path is not None), key=lambda r: r.depth or 0):
        console.print()
        console.print(
            Text(f"{row.clause.identifier}.{row.clause.clause} is violated: {row.clause.sentence}", style="bold")
        )
        if row.replayed is not None:
            console.print(counterexample_table(row.replayed.events))
        console.print(Text(result.replay_command(row)), soft_wrap=True)
    console.print()
    for witness in result.unseen:
        console.print(f"warning: {witness.identifier} may hold for want of anything to speak of: {witness.sentence}")
    if result.distinct == 0:
        console.print(f"every schedule of at most {result.depth} steps, {result.seconds:.3f} s; no states are counted")
        return
    extent = "all reachable states" if result.complete else "CUT SHORT: not all reachable states"
    console.print(
        f"{extent}: {result.distinct:,} distinct, {result.generated:,} generated, depth {result.depth}; "
        f"{result.seconds:.3f} s, {result.states_per_second:,} states/s (made ready in {result.compile_seconds:.1f} s)"
    )
    if result.disk_bytes:
        console.print(f"{result.peak_bytes:,} bytes in memory at most, {result.disk_bytes:,} bytes of states on disk")
    if result.collision_probability is not None:
        console.print(
            f"states are known by fingerprints: some state was missed with a probability of at most "
            f"{result.collision_probability:.2g}"
        )
