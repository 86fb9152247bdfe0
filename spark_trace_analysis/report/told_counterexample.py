"""From a violated clause to what the page shows of it: its steps in words, and the same steps as messages."""

from collections.abc import Sequence

from model_check.check import CheckResult, ClauseResult, Verdict
from model_check.counterexample.drawn_steps import drawn_path
from model_check.counterexample.steps import Event
from spark_trace_analysis.report.data import VerdictRow
from spark_trace_analysis.report.told_steps import Change, Counterexample, CounterexampleStep


def verdict_rows(result: CheckResult) -> tuple[VerdictRow, ...]:
    """One row a clause."""
    return tuple(
        VerdictRow(
            profile=result.profile,
            environment=result.faults,
            instance=result.instance.name,
            property_id=row.clause.identifier,
            clause=row.clause.clause,
            verdict=row.verdict.value,
            depth=result.depth if row.depth is None else row.depth,
            distinct=result.distinct,
            seconds=result.seconds,
            resembles=row.resembles,
            command=check_command(result, row),
            sentence=row.clause.sentence,
            reason="" if row.verdict is not Verdict.UNKNOWN else "the search was cut short",
        )
        for row in result.clauses
    )


def check_command(result: CheckResult, row: ClauseResult) -> str:
    """What makes the verdict on one clause again."""
    faults = f" --faults {','.join(result.faults)}" if result.faults else ""
    clause = f"{row.clause.identifier}.{row.clause.clause}"
    return f"halfcheck check --profile {result.profile} --instance {result.instance.name}{faults} --property {clause}"


def told_counterexample(result: CheckResult, row: ClauseResult) -> Counterexample:
    """A violated clause as the page tells it.

    Raises
    ------
    ValueError
        The clause is not violated.
    """
    if row.replayed is None:
        message = f"{row.clause.identifier}.{row.clause.clause} is not violated"
        raise ValueError(message)
    events = row.replayed.events
    return Counterexample(
        property_id=row.clause.identifier,
        clause=row.clause.clause,
        rule=row.clause.sentence,
        profile=result.profile,
        environment=result.faults,
        instance=result.instance.name,
        resembles=row.resembles,
        steps=told_steps(events),
        messages=drawn_path(events),
        command=result.replay_command(row),
    )


def told_steps(events: Sequence[Event]) -> tuple[CounterexampleStep, ...]:
    """The steps of a path as the page tells them."""
    return tuple(_told(event) for event in events)


def _told(event: Event) -> CounterexampleStep:
    parameters = zip(event.step.action.parameters, event.step.arguments, strict=True)
    changes = tuple(Change(change.field, change.before, change.after) for change in event.changes)
    return CounterexampleStep(
        event.number, event.step.action.name, " ".join(f"{name}={value}" for name, value in parameters), changes
    )
