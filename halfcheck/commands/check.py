"""``halfcheck check``: which guarantees a version gives, and the shortest schedule that breaks the others."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from typing import Annotated, Any

import typer

from halfcheck.errors import CommandLineError
from halfcheck.exit_codes import ExitCode


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
            help="One of tiny, patient, odd, skewed, deep, small, trio, medium, large, shared, or a .toml. "
            "Nothing: the portfolio, tiny, odd, skewed, deep and small, one after the other."
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
        typer.Option(min=1, max=64, help="Threads of the compiled search: 1 for an --instance, else all processors."),
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
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Search two profiles, and print only where their verdicts differ."),
    ] = None,
    minimal_repairs: Annotated[
        bool, typer.Option("--minimal-repairs", help="Find all minimal sets of repairs with which each clause holds.")
    ] = False,
    most_repairs: Annotated[
        int, typer.Option(min=1, max=5, help="How many repairs at once --minimal-repairs tries.")
    ] = 3,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With --minimal-faults: use no search that an earlier run has kept.")
    ] = False,
    broker_conf: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Judge this broker.conf: its times, in instances of tiny, deep and small sizes."
        ),
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
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="With --broker-conf: search what to change, what it mends, and what it costs."),
    ] = False,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Count which rules of which guards were ever the first to be false.")
    ] = False,
    width: Annotated[bool, typer.Option("--width", help="Only say how wide a state of the instance is.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all schedules, all that holds and all that cannot occur.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """Search every reachable state of the specification and give a verdict on each property.

    A property is violated as soon as one instance of a portfolio breaks it, with the shortest schedule that shows it;
    it holds, to the bounds of the instances, if none does; it is unknown where a search was cut short. What is broken
    stands first, gravest first, with what it means to a message and what to do. What the faults and messages of the
    instances cannot break is counted apart. --instance asks one instance alone.

    The exit code is 12 when a property is violated, 0 when none is, 255 when a search was cut short and found no
    violation, 130 when it was interrupted and found none. With --instance it speaks of that instance, also where the
    answer says that another one breaks a property.

    With --minimal-faults, every clause gets all minimal sets of faults that break it, the quiet world first, in all
    profiles or in those given; --faults says of which faults, of all if it is not given. Finished searches are kept, so
    that an interrupted run goes on where it stopped.

    --compare A B searches two profiles, and prints the clauses on which they differ. With --minimal-repairs, every
    clause that is broken gets all minimal sets of repairs with which it holds.

    Examples
    --------
    halfcheck check --profile 5.3.3
    halfcheck check --profile 5.4.0 --faults crash --all
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
    halfcheck check --compare 5.4.0 5.4.0+heeds_settled_originals
    halfcheck check --minimal-repairs --profile 5.4.0 --property S1.immune_half
    halfcheck check --broker-conf broker.conf --version 5.5.1 --local 1s --suggest
    """
    from halfcheck.check.search import run_check
    from model_check.counterexample.files import Written
    from model_check.explicit.state_store.reserved_memory import bytes_of
    from model_check.explicit.state_store.resources import EXACT, Resources

    files = Written(itf, svg, mermaid, pytest)
    of_files: dict[str, object] = {"--itf": itf, "--svg": svg, "--mermaid": mermaid, "--pytest": pytest}
    of_broker_conf: dict[str, object] = {
        "--version": version,
        "--immunity": immunity or None,
        "--local": local,
        "--suggest": suggest or None,
    }
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
    if compare is not None or minimal_repairs:
        mode = "--compare" if compare is not None else "--minimal-repairs"
        _refuse(
            {**of_one_search, **of_files, **of_broker_conf, "--broker-conf": broker_conf, "--fresh": fresh}
            | {"--reading": None if reading == "numba" else reading, "--minimal-faults": minimal_faults}
            | ({"--profile": profiles, "--minimal-repairs": minimal_repairs} if compare is not None else {}),
            f"does not go with {mode}, which searches many worlds in memory",
        )
        asked = chosen, properties or (), instance
        searched: dict[str, Any] = {"threads": threads, "most_states": max_states, "as_json": as_json}
        if compare is not None:
            from halfcheck.check.comparison import run_compare

            return run_compare(compare, *asked, **searched)
        from halfcheck.check.minimal_repairs import run_minimal_repairs

        return run_minimal_repairs(_only_profile(profiles), *asked, most_repairs=most_repairs, **searched)
    if minimal_faults:
        from halfcheck.check.minimal_faults import run_minimal_faults

        _refuse(
            {**of_one_search, **of_files, **of_broker_conf, "--broker-conf": broker_conf}
            | {"--reading": None if reading == "numba" else reading},
            "does not go with --minimal-faults, which searches many environments in memory",
        )
        if instance is None:
            from halfcheck.check.chosen_instance import tell_choice

            instance = "small"
            tell_choice(instance, "as --minimal-faults searches one; docs/generated/verdicts.md joins several")
        return run_minimal_faults(
            profiles or (),
            instance,
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
        from halfcheck.check.broker_conf import check_broker_conf

        return check_broker_conf(
            broker_conf,
            version or _only_profile(profiles),
            immunity or [],
            local,
            chosen,
            instance,
            as_json=as_json,
            everything=everything,
            wants_suggestions=suggest,
            is_version_given=bool(version or profiles),
            properties=properties or (),
            reading=reading,
            threads=threads or os.cpu_count() or 1,
            most_steps=max_depth,
            most_states=max_states,
        )
    if any(value is not None for value in of_broker_conf.values()):
        message = "--version, --immunity, --local and --suggest speak of a broker.conf: give --broker-conf FILE, too"
        raise CommandLineError(message)
    _refuse({"--fresh": fresh}, "speaks of the searches that --minimal-faults keeps")
    profile = _only_profile(profiles)
    if width:
        if instance is None:
            from halfcheck.check.chosen_instance import choose_instance

            instance = choose_instance(profile, chosen, properties or (), "as --width measures one")
        from halfcheck.check.state_width import print_width

        print_width(profile, instance, as_json=as_json)
        return ExitCode.OK
    resources = Resources(
        memory=None if memory is None else bytes_of(memory),
        disk=disk,
        spill=not no_disk,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
        fingerprint_bits=64 if fingerprints else EXACT,
    )
    return run_check(
        profile,
        chosen,
        instance,
        properties or (),
        resources,
        files,
        everything=everything,
        as_json=as_json,
        reading=reading,
        threads=threads,
        most_steps=max_depth,
        most_states=max_states,
        coverage=coverage,
    )


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
