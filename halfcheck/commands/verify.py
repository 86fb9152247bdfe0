"""``halfcheck verify``: the main job, from the specification to one HTML report."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.options import print_json, refuse_a_file
from halfcheck.printing.progress import live_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from halfcheck.verify.verification import Verification
    from html_report.data import ReportData
    from html_report.verdict_table import VerdictTable
    from spark_trace_analysis.audit.audit import Audit


def command(
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where index.html goes.")] = Path("report"),
    work: Annotated[Path, typer.Option(metavar="DIR", help="Where traces and results are kept.")] = Path("build"),
    traces: Annotated[int, typer.Option(help="How many traces to simulate in all.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Where all random choices come from.")] = 7,
    master: Annotated[str, typer.Option(help="The Spark master; all cores of this machine if not given.")] = "local[*]",
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Search, cross-check, audit, fuzz, simulate, judge, and write one HTML report.

    Every profile is searched exhaustively in several environments; the slow CPython search answers some of the
    questions again; the stores that real brokers wrote are audited, each must be explained by the specification of its
    version, and specifications that are wrong about a store must be refused; specification and reference broker run in
    lockstep, and every mutant must be noticed; random traces are simulated and judged by compiled kernels and by
    Polars expressions. Violations are findings, not failures: the exit code is 0 unless two ways to the same answer
    differ, a search contradicts the table of verdicts, a store is not explained or a mutant survives (75), or something
    could not be done.

    Examples
    --------
    halfcheck verify
    halfcheck verify --traces 50000 --seed 11 --out report-11
    """
    from halfcheck.verify.parts import begin
    from halfcheck.verify.processes import ResultCache
    from halfcheck.verify.verification import Verification
    from html_report.page import write
    from model_check.processes import on_all_cores
    from spark_trace_analysis.cluster.session import require_java

    refuse_a_file(out)
    require_java()
    with _progress(wanted=not as_json) as (say, status):
        job = Verification(seed, traces, work, say, status)
        job.look_for_traces()
        job.refuse()
        with on_all_cores() as spread:
            begun = begin(ResultCache(work / "found", spread), seed)
            job.search()
            job.gather(begun)
        data = job.simulate_and_judge(master)
        say("writing the report")
        write(data, out / "index.html")
    _print(job, data, out / "index.html", as_json=as_json)


def _print(job: Verification, data: ReportData, page: Path, *, as_json: bool) -> None:
    facts = {
        "report": str(page),
        "searches": len(job.checks),
        "states": sum(found.numbers.distinct for found in job.checks),
        "broken_when_quiet": {}
        if data.table is None
        else {
            profile.name: [cell.property_id for cell in data.table.broken_when_quiet(profile)]
            for profile in data.table.released
        },
        "violated": sum(len(found.violated) for found in job.checks),
        "traces": job.traces,
        "queried": job.traces,
        "stores": len(job.audits),
        "explained": [_explanation(audit) for audit in job.audits],
        "refused": [refused.to_json() for refused in job.refused],
        "lockstep": [_lockstep(campaign) for campaign in job.lockstep],
        "mutants": [_mutant(hunt) for hunt in job.mutants],
        "found_before": job.found_before,
        "seconds": {phase: round(seconds, 3) for phase, seconds in job.seconds.items()},
    }
    if as_json:
        print_json(facts)
        return
    print(_broken(data.table))
    print(
        f"{facts['searches']} searches of {facts['states']:,} states in all: {facts['violated']} clauses violated; "
        f"{job.traces:,} traces judged in two ways that agree; {facts['stores']} real stores audited"
    )
    events = sum(audit.trace.events for audit in job.audits)
    print(
        f"{len(job.audits)} stores explained by the specification of their version, all {events:,} records; "
        f"{len(job.refused)} wrong specifications refused"
    )
    print(
        f"specification and broker agree on {sum(run.done.steps for run in job.lockstep):,} steps of "
        f"{sum(run.done.examples for run in job.lockstep):,} schedules in {len(job.lockstep)} versions; "
        f"{len(job.mutants)} of {len(job.mutants)} mutants killed"
    )
    for note in job.notes:
        print(note)
    print(", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in job.seconds.items()))
    print(f"report: {page}")


def _explanation(audit: Audit) -> dict[str, Any]:
    trace, profile = audit.trace, str(audit.trace.profile or "")
    return {
        "store": audit.store,
        "accepted": trace.accepted,
        "profile": profile,
        "events": trace.events,
        "faults": trace.faults,
        "sentence": trace.sentence(),
        "command": f"halfcheck diff conformance/golden/{audit.store} spec:{profile}",
    }


def _lockstep(campaign: Campaign) -> dict[str, Any]:
    world, coverage, states = campaign.pairing.world, campaign.coverage, campaign.states
    assert states is not None  # noqa: S101 - they are counted where the two agree
    return {
        "profile": world.profile.name,
        "environment": world.environment,
        "instance": world.instance.name,
        "examples": campaign.done.examples,
        "steps": campaign.done.steps,
        "seconds": campaign.done.seconds,
        "agrees": campaign.failure is None,
        "conjuncts": len(coverage.guards.open),
        "conjuncts_seen": coverage.conjuncts_seen,
        "actions": len(coverage.guards.allowed),
        "actions_seen": coverage.actions_seen,
        "unseen": coverage.unseen,
        "instance_of_states": states.world.instance.name,
        "states": states.reachable,
        "states_seen": states.seen,
        "command": campaign.command,
    }


def _mutant(hunt: HuntResult) -> dict[str, Any]:
    of = hunt.to_json()
    return {
        "name": of["mutant"],
        **{name: of[name] for name in ("part", "what", "resembles", "profile", "variable", "step", "examples")},
        "seconds": hunt.seconds,
    }


def _broken(table: VerdictTable | None) -> str:
    """The page's opening sentence: how many guarantees the quiet world breaks in each version of RocketMQ."""
    if table is None:
        return ""
    counts = [f"{len(table.broken_when_quiet(profile))} in {profile}" for profile in table.released]
    return f"of {len(table.guarantees)} guarantees, the quiet world breaks {', '.join(counts)}"


@contextmanager
def _progress(*, wanted: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None] | None]]:
    """Say what is being done: a live line on a terminal, a line a phase elsewhere."""
    with live_line("starting", wanted=wanted) as tell:
        yield tell or (lambda text: print(text, file=sys.stderr, flush=True) if wanted else None), tell
