"""An answer as the plain data of `halfcheck check --broker-conf FILE --json`: that of a check, and more keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.broker_conf.words import tell

if TYPE_CHECKING:
    from model_check.broker_conf.answer import Answer


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """The keys of `CheckResult.to_json`, and these.

    `quotient` says which ticks stand for which times, and which orders they keep. Each violated clause has `schedule`
    (its steps with milliseconds and words), `added_rounds` and `late_round_ms`; each that is unknown has its `reason`.
    `replay` is null: the path is one of an instance that has no name. `trace` is the shortest violation in ticks.
    """
    told = answer.result.to_json()
    quotient = answer.quotient
    told["quotient"] = {
        "milliseconds": quotient.real_ms,
        "ticks": quotient.ticks,
        "transactionCheckMax": {"real": quotient.check_max[0], "scaled": quotient.check_max[1]},
        "orders": [{"order": str(order), "why": order.why} for order in quotient.orders],
        "sentence": quotient.sentence(),
    }
    for row in answer.result.clauses:
        of_property = told["properties"][row.clause.identifier]
        of_property["replay"] = of_property["clauses"][row.clause.clause]["replay"] = None
    for clause, schedule in answer.schedules.items():
        of_clause = told["properties"][clause.identifier]["clauses"][clause.clause]
        told_steps = tell(schedule.machine, schedule.constants, schedule.path, schedule.times)
        of_clause["schedule"] = [step.to_json() for step in told_steps]
        of_clause["added_rounds"] = schedule.more_rounds
        of_clause["late_round_ms"] = schedule.late_ms
    return told
