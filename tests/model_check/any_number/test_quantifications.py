"""Every rule of the specification that quantifies over places is known, and how one among others accounts for it.

A rule that asks something of all halves, op messages or transactions is where one transaction among others could differ
from one of many. What is new fails here until it is in `CLASSIFIED`, with what is in favour of it.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from model_check.any_number.compared_instances import SEARCHED, TRIO, WALKED
from model_check.any_number.simulation import Simulator
from model_check.counterexample.steps import read_path
from model_check.explicit.code_generation.compile import compile_machine
from model_check.instances import instance_names, load_instance
from model_check.world import World
from spec.chapters import others
from spec.language import actions_of, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC: Final = Path(__file__).parents[3] / "spec"

SPEAKS_OF_OTHERS: Final = "chapters/others.py"
"""What is held against many transactions itself."""

BEHIND_A_PROXY: Final = "chapters/proxy.py"
"""What no instance does in which one among others is claimed: none of them has a proxy, which a test below asks."""

FORGETS: Final = "forgetting.py"
"""What has a comparison of its own, of states with their forgotten places and without."""

OWN, MAP, FOR_ALL, CURSOR, GLOBAL = "own", "map", "for all", "cursor", "global"
"""What a quantification is.

Own: it asks only of halves of the same transaction, of copies of the same original, or of op messages that name a half.
Map: it does the same to each place, whatever stands at the others. For all: an assumption or a requirement about all
places, which only fewer of them can make weaker. Cursor: it asks of the place at the cursor. Global: others count.
"""

PULLS: Final = ("begin_round_among_others", "begin_stop_among_others", "pull_ops_among_others")
WALK: Final = ("leave_op_of_another", "keep_op_offset_for_another", "list_op_once")
BATCH: Final = ("join_batch_by_another", "write_batch_of_another")
SHARED_OP: Final = ("mark_op_done_for_another", "list_op_once")


@dataclass(frozen=True, order=True, slots=True)
class Quantification:
    """One place of the specification that asks or does something of all places of an array."""

    file: str
    function: str
    kind: str
    """`any`, `all`, `sum`, `for`, or `is_empty` of a set of places."""
    array: str
    """The constant of the instance that is its length, any other bound as it is written, or the set."""

    def __str__(self) -> str:
        return f"{self.file}, {self.function}: {self.kind} over {self.array}"


CLASSIFIED: Final[tuple[tuple[Quantification, str, tuple[str, ...]], ...]] = tuple(
    (Quantification(file, function, kind, array), what, tuple(answered))
    for file, function, kind, array, what, *answered in (
        ("commit_log.py", "ops_among", "sum", "op_slots", GLOBAL, "trouble_another", "flush_for_another"),
        ("ghosts.py", "is_named_unreadably", "any", "op_slots", OWN),
        ("ghosts.py", "remember_skipped", "for", "half_slots", MAP),
        ("half.py", "is_left_to_another", "any", "half_slots", OWN),
        ("half.py", "has_a_copy_ahead", "any", "half_slots", OWN),
        ("half.py", "was_resumed", "any", "half_slots", OWN),
        ("half.py", "awaits_its_producer", "any", "half_slots", OWN),
        ("half_queue.py", "pass_over", "for", "half_slots", MAP),
        ("half_queue.py", "its_copy_is_there", "any", "half_slots", OWN),
        ("half_queue.py", "stored_halves", "sum", "half_slots", OWN),
        ("op_pull.py", "pull_throws", "any", "op_slots", GLOBAL, *PULLS, "abort_round_at_another"),
        ("op_pull.py", "read_op_messages", "for", "op_slots", GLOBAL, *PULLS),
        ("op_pull.py", "read_op_messages", "for", "half_slots", MAP),
        ("op_pull.py", "read_op_messages", "is_empty", "s.pulled_op[o].unresolved", GLOBAL, *SHARED_OP),
        ("op_pull.py", "what_a_pull_gives", "any", "op_slots", GLOBAL, *PULLS, "see_op_end_for_another",
         "pull_unreadable_ops"),
        ("op_pull.py", "is_of_interest", "any", "half_slots", OWN),
        # nothing answers for it: rounds are too short for it, which a test below asks
        ("op_pull.py", "last_op_pulled_came_late", "any", "op_slots", GLOBAL),
        ("op_pull.py", "settle_by_op", "is_empty", "s.pulled_op[o].unresolved", GLOBAL, *SHARED_OP),
        ("op_pull.py", "op_offset_after_round", "sum", "op_slots", GLOBAL, *WALK),
        ("op_pull.py", "op_offset_after_round", "all", "o + 1", GLOBAL, *WALK),
        ("op_pull.py", "forget_ops", "for", "half_slots", MAP),
        ("op_pull.py", "forget_ops", "for", "op_slots", MAP),
        ("op_pull.py", "names_it_from", "any", "op_slots", OWN),
        ("chapters/broker.py", "lose_power", "for", "op_slots", MAP),
        ("chapters/broker.py", "lose_power", "for", "half_slots", MAP),  # halves that are lost
        ("chapters/broker.py", "lose_power", "for", "half_slots", MAP),  # halves whose copies are
        ("chapters/broker.py", "start_again", "for", "half_slots", MAP),
        ("chapters/broker.py", "tick", "all", "transactions", FOR_ALL),  # running local transactions
        ("chapters/broker.py", "tick", "all", "transactions", FOR_ALL),  # an END_TRANSACTION under way
        ("chapters/broker.py", "tick", "all", "half_slots", FOR_ALL),
        ("chapters/broker.py", "tick", "for", "half_slots", MAP),
        ("chapters/end_transaction.py", "buffer_op", "is_empty", "s.batch.names", GLOBAL, *BATCH),
        ("chapters/end_transaction.py", "was_checked", "any", "half_slots", OWN),
        ("chapters/escape.py", "act_for_dead_master", "for", "half_slots", MAP),
        ("chapters/op_batch.py", "batch_size", "sum", "half_slots", GLOBAL, *BATCH),
        ("chapters/op_batch.py", "batch_is_due", "is_empty", "s.batch.names", GLOBAL, *BATCH),
        ("chapters/op_batch.py", "fail_to_write_op_batch", "for", "half_slots", MAP),
        ("chapters/op_batch.py", "batch_is_overdue", "is_empty", "s.batch.names", GLOBAL, *BATCH),
        ("chapters/producer.py", "producers_end", "for", "transactions", MAP),
        ("chapters/producer.py", "producers_end", "for", "half_slots", MAP),
        ("chapters/retention.py", "is_over", "any", "half_slots", FOR_ALL),
        ("chapters/retention.py", "is_pending", "any", "half_slots", OWN),
        ("chapters/retention.py", "truncate_all", "is_empty", "s.batch.names", GLOBAL, *BATCH),
        ("chapters/retention.py", "truncate_all", "for", "op_slots", MAP),
        ("chapters/retention.py", "truncate_all", "for", "half_slots", MAP),
        ("chapters/retention.py", "is_told_to_go_on", "any", "half_slots", CURSOR),
        ("chapters/shutdown.py", "may_stop", "is_empty", "s.batch.names", GLOBAL, *BATCH),  # what is due was written
        ("chapters/shutdown.py", "may_stop", "all", "half_slots", FOR_ALL),
        ("chapters/shutdown.py", "may_stop", "is_empty", "s.batch.names", GLOBAL, *BATCH),  # what waits has room
        ("chapters/shutdown.py", "begins_to_stop", "is_empty", "s.batch.names", GLOBAL, *BATCH),
    )
)  # fmt: skip
"""Each with its class and, where others count, the actions of others that answer for it; in the order of the source."""


@dataclass(frozen=True, slots=True)
class Found:
    """A quantification as it stands in a source."""

    what: Quantification
    line: int
    variable: str
    node: ast.AST
    is_denied: bool
    """Whether it stands behind a `not`."""


def found_in(file: str, source: str) -> list[Found]:
    """The quantifications of a source, in its order."""
    functions = [part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef) and _takes_a_state(part)]
    return [one for function in functions for one in _found(file, function.name, function, is_denied=False)]


def _found(file: str, function: str, node: ast.AST, *, is_denied: bool) -> Iterator[Found]:
    for kind, array, variable in _quantified(node):
        yield Found(Quantification(file, function, kind, array), getattr(node, "lineno", 0), variable, node, is_denied)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    for child in ast.iter_child_nodes(node):
        yield from _found(file, function, child, is_denied=is_denied != is_not)


def _quantified(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Kind, array and variable of what a node quantifies over; any comprehension is taken for one."""
    match node:
        case ast.For(target=target, iter=iterable):
            yield "for", _array(iterable), ast.unparse(target)
        case ast.Call(func=function, args=[ast.GeneratorExp(generators=generators)]):
            for each in generators:
                yield ast.unparse(function), _array(each.iter), ast.unparse(each.target)
        case ast.ListComp(generators=generators) | ast.SetComp(generators=generators):
            for each in generators:
                yield "comprehension", _array(each.iter), ast.unparse(each.target)
        case ast.Call(func=ast.Attribute(value=value, attr="is_empty")):
            yield "is_empty", ast.unparse(value), ""


def _takes_a_state(function: ast.FunctionDef) -> bool:
    taken = [ast.unparse(argument.annotation) for argument in function.args.args if argument.annotation is not None]
    return "State" in taken or "Constants" in taken


def _array(iterable: ast.expr) -> str:
    """The bound of a range: the constant of the instance, or what is written there."""
    return ast.unparse(iterable).removeprefix("range(").removesuffix(")").removeprefix("c.")


def sources() -> dict[str, str]:
    """The files of the specification in which rules stand, but for what is said to speak of others."""
    files = sorted(SPEC.glob("*.py")) + sorted(SPEC.glob("chapters/*.py"))
    names = {str(path.relative_to(SPEC)): path for path in files}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in names.items()
        if name not in (BEHIND_A_PROXY, FORGETS, SPEAKS_OF_OTHERS)
    }


def complaints(texts: dict[str, str]) -> list[str]:
    """One line for each quantification that is not classified, and for each classified one that is gone."""
    found = [one for file, text in texts.items() for one in found_in(file, text)]
    known = Counter(what for what, _, _ in CLASSIFIED)
    there = Counter(one.what for one in found)
    lines = {one.what: one.line for one in found}
    return [
        *(
            f"spec/{what.file}:{lines[what]}: {what.function} quantifies over {what.array} ({what.kind}) and is not "
            "classified: say in CLASSIFIED how one transaction among others accounts for it, and run `make any-number`"
            for what in (there - known).elements()
        ),
        *(
            f"{what}: it is gone from the specification: take it out of CLASSIFIED"
            for what in (known - there).elements()
        ),
    ]


def test_each_quantification_of_the_specification_is_classified() -> None:
    assert complaints(sources()) == []
    assert Counter(what for _, what, _ in CLASSIFIED) == {OWN: 11, MAP: 16, FOR_ALL: 5, CURSOR: 1, GLOBAL: 17}


NEW_RULE: Final = '''

def another_is_young(s: State, c: Constants) -> bool:
    """Some half is young."""
    return any(h < s.half_length and is_young(s, c, h) for h in range(c.half_slots))
'''


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        pytest.param(
            "rounds.py",
            "",
            NEW_RULE,
            "another_is_young quantifies over half_slots (any) and is not classified",
            id="any",
        ),
        pytest.param(
            "chapters/broker.py",
            "    s.now += 1",
            "    for t in range(c.transactions):\n        s.transaction[t].parked = False\n    s.now += 1",
            "tick quantifies over transactions (for) and is not classified",
            id="for",
        ),
        pytest.param(
            "rounds.py",
            "s.offsets.half = s.round.cursor",
            "s.offsets.half = s.round.cursor if s.round.done.is_empty() else 0",
            "end_round quantifies over s.round.done (is_empty) and is not classified",
            id="is_empty",
        ),
        pytest.param(
            "op_pull.py",
            "    for o in range(c.op_slots):\n        s.pulled_op[o].unresolved = Bits()",
            "",
            "op_pull.py, forget_ops: for over op_slots: it is gone",
            id="gone",
        ),
    ],
)
def test_one_more_and_one_less_are_refused(file: str, old: str, new: str, complaint: str) -> None:
    texts = sources()
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new) if old else texts[file] + new
    refused = complaints(texts)
    assert refused
    assert all(complaint in line for line in refused)


# --- a class is what it says ------------------------------------------------------------------------------------------


def conjuncts(term: ast.expr) -> Iterator[ast.expr]:
    """The parts of a conjunction."""
    if isinstance(term, ast.BoolOp) and isinstance(term.op, ast.And):
        for part in term.values:
            yield from conjuncts(part)
    else:
        yield term


def asked(node: ast.AST) -> list[str]:
    """The conjuncts of what a fold asks of each place."""
    assert isinstance(node, ast.Call)
    assert isinstance(node.args[0], ast.GeneratorExp)
    return [ast.unparse(part) for part in conjuncts(node.args[0].elt)]


def asks_of_its_own(one: Found) -> bool:
    """A conjunct keeps it to halves of a transaction, copies of an original, or op messages that name a half."""
    own = (f"s.half[{one.variable}].transaction == ", f"s.half[{one.variable}].original == ")
    names = f"s.op[{one.variable}].names.has("
    return any(part.startswith((*own, names)) for part in asked(one.node))


def does_the_same_to_each(one: Found) -> bool:
    """All that it writes is at its place, or does something to it; a local name is none that a place hands on."""
    for part in ast.walk(one.node):
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name in (each.id for each in ast.walk(value) if isinstance(each, ast.Name)):
                    return False
            case ast.Assign(targets=[target]):
                if f"[{one.variable}]" not in ast.unparse(target):
                    return False
            case ast.Expr(value=ast.Call(args=given)):
                if one.variable not in map(ast.unparse, given):
                    return False
            case ast.AugAssign() | ast.AnnAssign() | ast.Return():
                return False
    return True


def is_as_classified(one: Found, what: str) -> bool:
    """Whether a quantification has the form of its class."""
    match what:
        case "own":
            return one.what.kind in ("any", "sum") and asks_of_its_own(one)
        case "map":
            return one.what.kind == "for" and does_the_same_to_each(one)
        case "for all":
            return (one.what.kind, one.is_denied) in (("all", False), ("any", True))
        case "cursor":
            return f"{one.variable} == s.round.cursor" in asked(one.node)
    return what == GLOBAL


def unlike_their_class(texts: dict[str, str]) -> list[str]:
    """Quantifications that do not have the form of their class; those of equal names are in the order of the source."""
    classes: dict[Quantification, list[str]] = {}
    for quantification, what, _ in CLASSIFIED:
        classes.setdefault(quantification, []).append(what)
    return [
        f"{one.what} is not of the class {what!r}"
        for file, text in texts.items()
        for one in found_in(file, text)
        if not is_as_classified(one, what := classes[one.what].pop(0))
    ]


def test_each_has_the_form_of_its_class() -> None:
    assert unlike_their_class(sources()) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "function"),
    [
        ("half.py", "s.half[h].transaction == t and s.half[h].left == Left.RESUMED", "s.half[h].left == Left.RESUMED",
         "was_resumed"),
        ("chapters/shutdown.py", "all(s.half[h].end != End.COMMIT_STORED", "not all(s.half[h].end != End.COMMIT_STORED",
         "may_stop"),
        ("half_queue.py", "            s.half[h].left = Left.PASSED_OVER",
         "            s.half[h].left = Left.PASSED_OVER\n            s.mishaps = 0", "pass_over"),
        ("chapters/retention.py", "not any(h == s.round.cursor and", "not any(h > s.round.cursor and",
         "is_told_to_go_on"),
    ],
)  # fmt: skip
def test_a_rule_that_asks_more_than_its_class_allows_is_refused(file: str, old: str, new: str, function: str) -> None:
    texts = sources()
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    assert [function in line for line in unlike_their_class(texts)] == [True]


def test_actions_of_others_answer_for_what_is_global() -> None:
    there = {action.name for action in actions_of(others)}
    answered = {str(one): names for one, what, names in CLASSIFIED if what == GLOBAL}
    assert {name for names in answered.values() for name in names} <= there
    assert [one for one, names in answered.items() if not names] == [
        "op_pull.py, last_op_pulled_came_late: any over op_slots"
    ]
    assert not any(names for _, what, names in CLASSIFIED if what != GLOBAL)


# --- the one for which nothing answers --------------------------------------------------------------------------------

ANOTHERS_OP_IS_LATE: Final = (
    "send_half t=0 immunity=-1; send_half t=1 immunity=-1; send_half t=2 immunity=-1; roll_back_locally t=2; "
    "write_op h=2; tick; begin_round; tick; tick; roll_back_locally t=1; write_op h=1; roll_back_locally t=0; "
    "write_op h=0; pull_more_ops; put_back_and_check"
)
"""The round reads an op message of another that was born two ticks after its start, for which a half is checked."""


def has_no_late_op(sizes: Any) -> bool:
    """A round is over before an op message is born that is later than the timeout, by the broker's clock."""
    return bool(sizes.round_limit + sizes.clock_steps <= sizes.timeout)


def test_no_op_message_comes_late_where_claims_are_made_and_compared() -> None:
    crowded = [instance for name in instance_names() if (instance := load_instance(name)).crowded == 1]
    assert len(crowded) == 3
    assert all(map(has_no_late_op, (*crowded, *SEARCHED, TRIO, WALKED)))


def test_no_proxy_stands_where_claims_are_made_and_compared() -> None:
    crowded = [instance for name in instance_names() if (instance := load_instance(name)).crowded == 1]
    assert {instance.proxies for instance in (*crowded, *SEARCHED, TRIO, WALKED)} == {0}
    assert load_instance("proxied").proxies > 0


def test_a_late_op_message_of_another_could_not_be_left_out() -> None:
    instance = replace(
        load_instance("small"), name="late", transactions=3, half_slots=4, op_slots=3, round_limit=2, timeout=1
    )
    assert not has_no_late_op(instance)
    constants = World.of("4.9.7", ["slow_local", "slow_round"], instance).constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    states = [state.canonical()]
    for step in read_path(TRANSACTIONAL_MESSAGES, constants, ANOTHERS_OP_IS_LATE):
        assert take(state, constants, step) is None
        states.append(state.canonical())
        state.load(states[-1])
    simulator = Simulator(compiled, constants)
    simulator.compare(np.array([compiled.packing.pack(values) for values in states]))
    assert simulator.result.broken == {"put_back_and_check": 1}
