"""How one among others follows each step of many: cases, and the steps that it takes in each.

A hint to the prover only. What is wrong here is not proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from model_check.any_number.unbounded.formulas import Number, State, Truth, conjunction, disjunction, equal, negation
from model_check.any_number.unbounded.states import TRACKED, Many
from spec.state import Producer

if TYPE_CHECKING:
    from model_check.any_number.unbounded.values import QueueEffect
    from spec.language import Action

OF_ALL: Final = ("crashed", "time_passed", "producer_back", "producer_gone")
"""Events that are the same for all transactions."""

OF_ANOTHER: Final = {"jump_over_half": "jump_over_half_of_another"}
"""Actions at a half with one of others that does the same to a round."""


@dataclass(frozen=True)
class ManyStep:
    """An action of many, with parameters of which nothing is known, or one of its branches."""

    action: Action
    arguments: tuple[Any, ...]
    before: Many
    effect: QueueEffect
    after: Many

    def argument(self, name: str) -> Any:
        """The argument of a parameter."""
        return dict(zip(self.action.parameters, self.arguments, strict=True))[name]


@dataclass(frozen=True, slots=True)
class Way:
    """A case, and the steps with which one among others follows; none where it need not move."""

    case: str
    condition: Truth
    steps: tuple[tuple[str, tuple[Number, ...]], ...]
    """Actions, each with its arguments."""


def ways_to_follow(step: ManyStep, seen: State) -> Iterator[Way]:
    """The ways to follow a step from states that the tracked transaction sees as `seen`."""
    name, parameters = step.action.name, list(step.action.parameters)
    if step.action.event == "round_ended":
        yield from _end_of_round(step)
    elif name == "begin_round":
        s, ops = step.before.fields, step.before.ops
        is_end = s["offsets", "op"] >= ops.length
        to = ops.rank(step.effect.state["round", "next_op"])
        yield Way("at the end of the op queue", is_end, ((name, ()),))
        yield Way("amid the op queue", negation(is_end), (("begin_round_among_others", (to,)),))
    elif name == "pull_more_ops":
        yield from _pull(step)
    elif name == "persist_offsets":
        moved = disjunction(negation(equal(seen["saved", queue], seen["offsets", queue])) for queue in ("half", "op"))
        yield Way("its own moved", moved, ((name, ()),))
        yield Way("only others' moved", negation(moved), ())
    elif step.action.event in OF_ALL:
        yield Way("as it is", True, ((name, ()),))
    elif "t" in parameters:
        yield from _of_a_transaction(step)
    else:
        half = step.argument("h") if "h" in parameters else step.before.fields["round", "cursor"]
        is_own = step.before.halves.has(half)
        yield Way("its own half", is_own, ((name, (step.before.halves.rank(half),) if "h" in parameters else ()),))
        if name in OF_ANOTHER:
            yield Way("another's half", negation(is_own), ((OF_ANOTHER[name], ()),))
            return
        is_stray = step.effect.state["stray_ends",] is not step.before.fields["stray_ends",]
        yield Way("another's half", negation(is_own), (("send_stray_end_to_another", ()),) if is_stray else ())


def _end_of_round(step: ManyStep) -> Iterator[Way]:
    """Another's half ends a round as such; another's op message that is not done is known to be left first."""
    name, before = step.action.name, step.before
    cursor, position = before.fields["round", "cursor"], before.ops.rank(step.effect.state["offsets", "op"])
    is_at_another = conjunction((cursor < before.halves.length, negation(before.halves.has(cursor))))
    at_another = "abort_round_at_another" if name.startswith("abort") else "end_round_at_another"
    for is_left, condition in ((True, position < before.ops.count), (False, position >= before.ops.count)):
        first = (("leave_op_of_another", (position,)),) if is_left else ()
        case = ", an op message left" if is_left else ""
        yield Way(f"its own half{case}", conjunction((condition, negation(is_at_another))), (*first, (name, ())))
        yield Way(f"another's half{case}", conjunction((condition, is_at_another)), (*first, (at_another, ())))


def _pull(step: ManyStep) -> Iterator[Way]:
    s, ops = step.before.fields, step.before.ops
    is_own, is_end = step.before.halves.has(s["round", "cursor"]), s["round", "next_op"] >= ops.length
    to = ops.rank(step.effect.state["round", "next_op"])
    yield Way("op messages", negation(is_end), (("pull_ops_among_others", (to,)),))
    yield Way("none, its own half", conjunction((is_end, is_own)), ((step.action.name, ()),))
    yield Way("none, another's half", conjunction((is_end, negation(is_own))), (("see_op_end_for_another", ()),))


def _of_a_transaction(step: ManyStep) -> Iterator[Way]:
    """Another transaction may make its producer known again."""
    before, after = step.before.fields["producer",], step.effect.state["producer",]
    is_own = equal(step.argument("t"), TRACKED)
    arguments = tuple(0 if name == "t" else step.argument(name) for name in step.action.parameters)
    yield Way("its own", is_own, ((step.action.name, arguments),))
    if after is before:
        yield Way("another's", negation(is_own), ())
        return
    is_heard_of = conjunction((equal(before, Producer.UNREGISTERED), equal(after, Producer.ONLINE)))
    heard = conjunction((negation(is_own), is_heard_of))
    yield Way("another's, heard of", heard, (("hear_of_producer_by_another", ()),))
    yield Way("another's", conjunction((negation(is_own), negation(is_heard_of))), ())
