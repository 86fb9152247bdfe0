"""A judgement as the plain data of `halfcheck check --broker-conf FILE --json`: that of a check, and more keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.broker_conf.words import tell
from model_check.check import SIZES
from model_check.wording.clauses import meaning_of

if TYPE_CHECKING:
    from model_check.broker_conf.answer import Answer
    from model_check.broker_conf.portfolio import Judgement
    from model_check.broker_conf.ticks import Quotient


def judgement_to_json(judgement: Judgement) -> dict[str, Any]:
    """The keys of `CheckResult.to_json`, and these.

    `searches` has an entry for each size: its instance, how large the search was, and its `quotient`, which says which
    ticks stand for which times, and which orders they keep; `quotient` is that of the first. Each clause has `gravity`
    (0 is the gravest), `harm` and `remedy`, and `cannot_occur`, what a clause lacks that holds only because nothing
    could break it here. Each violated one has `schedule` (its steps with milliseconds and words), `added_rounds`,
    `late_round_ms`, `after_ms` and the `instance` that shows it; each that is unknown has its `reason`. `replay` is
    null: the path is one of an instance that has no name. `trace` is the shortest violation in ticks.
    """
    told = judgement.result.to_json()
    told["quotient"] = _quotient_to_json(judgement.answers[0].quotient)
    told["searches"] = [
        _search_to_json(base, answer) for base, answer in zip(judgement.bases, judgement.answers, strict=True)
    ]
    told["instances_left_out"] = list(judgement.left_out)
    for row in judgement.result.clauses:
        of_property = told["properties"][row.clause.identifier]
        of_clause = of_property["clauses"][row.clause.clause]
        of_property["replay"] = of_clause["replay"] = None
        meaning = meaning_of(row.name)
        of_clause |= {"gravity": meaning.gravity, "harm": meaning.harm, "remedy": meaning.remedy}
        of_clause["cannot_occur"] = judgement.cannot_occur.get(row.clause, "")
        schedule = judgement.schedules.get(row.clause)
        if schedule is not None:
            told_steps = tell(schedule.machine, schedule.constants, schedule.path, schedule.times)
            of_clause["schedule"] = [step.to_json() for step in told_steps]
            of_clause["added_rounds"] = schedule.more_rounds
            of_clause["late_round_ms"] = schedule.late_ms
            of_clause["after_ms"] = judgement.after_ms(row)
            of_clause["instance"] = judgement.bases[judgement.found_in[row.clause]]
    return told


def _search_to_json(base: str, answer: Answer) -> dict[str, Any]:
    sizes = answer.quotient.instance
    return {
        "instance": base,
        **{name: getattr(sizes, name) for name in SIZES},
        **answer.result.numbers_to_json(),
        "seconds": round(answer.result.seconds, 6),
        "quotient": _quotient_to_json(answer.quotient),
    }


def _quotient_to_json(quotient: Quotient) -> dict[str, Any]:
    return {
        "milliseconds": quotient.real_ms,
        "ticks": quotient.ticks,
        "transactionCheckMax": {"real": quotient.check_max[0], "scaled": quotient.check_max[1]},
        "orders": [{"order": str(order), "why": order.why} for order in quotient.orders],
        "sentence": quotient.sentence(),
    }
