"""From terms to the source of functions over packed words.

One function an action with its parameters chosen, `expand` that tries them all on a run of states, and `judge` that
says which clauses a state violates and which witnesses it is. A write whose value cannot be shown to be in range is
checked.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from model_check.explicit.emit_expressions import ExpressionWriter, place_of
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import (
    Expression,
    If,
    Int,
    Let,
    Local,
    LoweredAction,
    Statement,
    Tick,
    Write,
    apply,
)
from spec.language import NONE, Kind, Machine, Property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.explicit.packing import Packing, Place

OBSERVED = ("transaction", "half", "copy", "op", "check_times", "outcome")
"""The event fields that a machine's observations may give, in the order of a row."""


class Emitter(ExpressionWriter):
    """Writes the functions of one machine in one instance.

    Parameters
    ----------
    machine : Machine
    constants : object
        The instance; switches stay open and are read from the array `K` at run time, in the machine's order.
    packing : Packing
    """

    def __init__(self, machine: Machine, constants: object, packing: Packing) -> None:
        self.machine = machine
        self.constants = constants
        super().__init__(packing, machine.switches)
        self.lowering = Lowering(machine, constants)
        self.steps = machine.steps(constants)

    def source(self) -> str:
        """The generated part of the module: `WORDS`, `STEPS`, `CLAUSES`, `expand`, `judge` and what they call."""
        actions = [self.lowering.action(step) for step in self.steps]
        bodies = [self._action(f"step_{i}", action) for i, action in enumerate(actions)]
        size = [
            f"WORDS = {self.packing.words}",
            f"STEPS = {len(actions)}",
            f"CLAUSES = {len(self.machine.clauses)}",
        ]
        return "\n".join([*size, "", *bodies, self._expand(len(actions)), self._judge(), self._observe()])

    # --- functions ----------------------------------------------------------------------------------------------------

    def _signature(self) -> str:
        return ", ".join([*self.words, *self.switches.values()])

    def _action(self, name: str, action: LoweredAction) -> str:
        self._ranges = {}
        words = ", ".join(self.words)
        lines = [
            "",
            f"# {action.name} {' '.join(str(a) for a in action.arguments)}",
            "@inlined",
            f"def {name}({self._signature()}):",
        ]
        effect = list(action.effect)
        while effect and isinstance(effect[0], Let):
            lines += self._statement(effect.pop(0), "    ", words)
        for conjunct in action.guard:
            lines += [f"    if not {self._truth(conjunct.condition)}:", f"        return 0, {words}"]
        for statement in effect:
            lines += self._statement(statement, "    ", words)
        return "\n".join([*lines, f"    return 1, {words}"])

    def _expand(self, steps: int) -> str:
        width = self.packing.words
        lines = ["", "@compiled", "def expand(states, first, last, K, found, steps, parents, room):"]
        lines += [f"    k{i} = K[{i}] != 0" for i in range(len(self.switches))]
        lines += ["    n = 0", "    x = first", "    while x < last and n + STEPS <= room:", "        before = n"]
        lines += [f"        w{i} = states[x * {width} + {i}]" for i in range(width)]
        news = [f"v{i}" for i in range(width)]
        for step in range(steps):
            lines += [
                f"        ok, {', '.join(news)} = step_{step}({self._signature()})",
                "        if ok != 0:",
                "            if ok == 2:",
                f"                return -1 - {step}, x",
                *[f"            found[n * {width} + {i}] = {new}" for i, new in enumerate(news)],
                f"            steps[n] = {step}",
                "            n += 1",
            ]
        lines += [
            "        for j in range(before, n):",
            "            parents[j] = x",
            "        x += 1",
            "    return n, x",
        ]
        return "\n".join([*lines, ""])

    def _judge(self) -> str:
        width = self.packing.words
        lines = ["", "@compiled", "def judge(states, x, K):"]
        lines += [f"    k{i} = K[{i}] != 0" for i in range(len(self.switches))]
        lines += [f"    w{i} = states[x * {width} + {i}]" for i in range(width)]
        lines += ["    verdict = 0"]
        for bit, term in enumerate(self.claims()):
            lines += [f"    if {self._truth(term)}:", f"        verdict |= {1 << bit}"]
        return "\n".join([*lines, "    return verdict", ""])

    def _observe(self) -> str:
        """`observe(states, x, step, row)`: what a step that led to state x shows, one number an observed field."""
        width = self.packing.words
        lines = ["", "@compiled", "def observe(states, x, step, row):"]
        lines += [f"    w{i} = states[x * {width} + {i}]" for i in range(width)]
        lines += [f"    row[{i}] = {0 if name == 'outcome' else NONE}" for i, name in enumerate(OBSERVED)]
        for number, step in enumerate(self.steps):
            observed = self.machine.observations.get(step.action.name, {})
            if observed:
                lines += [f"    if step == {number}:"]
                lines += [
                    f"        row[{OBSERVED.index(name)}] = "
                    + self._number(self.lowering.observation(function, step.arguments[:1]))
                    for name, function in observed.items()
                ]
                lines += ["        return"]
        return "\n".join([*lines, ""])

    def claims(self) -> Iterator[Expression]:
        """One term a clause, true where it is violated; then one a witness, true where it is seen."""
        for clause in self.machine.clauses:
            yield apply("not", apply("and", *self._instances(clause)))
        for witness in self.machine.witnesses:
            yield apply("or", *self._instances(witness))

    def _instances(self, claim: Property) -> list[Expression]:
        choices = (choice.values(self.constants) for choice in claim.parameters.values())
        return [self.lowering.claim(claim, arguments) for arguments in product(*choices)]

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, statement: Statement, indent: str, words: str) -> list[str]:
        match statement:
            case Let(name, value):
                self._ranges[name] = self._range(value)
                return [f"{indent}{name} = {self._number(value)}"]
            case If(test, then, otherwise):
                lines = [f"{indent}if {self._truth(test)}:"]
                lines += self._block(then, indent + "    ", words)
                if otherwise:
                    lines += [f"{indent}else:", *self._block(otherwise, indent + "    ", words)]
                return lines
            case Tick(is_back=False):
                return self._tick(indent)
            case Tick():
                return self._tick_back(indent, words)
            case Write(path, index, value):
                return self._write(path, index, value, indent, words)
        raise AssertionError(statement)

    def _block(self, statements: tuple[Statement, ...], indent: str, words: str) -> list[str]:
        lines = [line for statement in statements for line in self._statement(statement, indent, words)]
        return lines or [f"{indent}pass"]

    def _write(
        self, path: tuple[str, ...], index: Expression | None, value: Expression, indent: str, words: str
    ) -> list[str]:
        places = self.packing.places[path]
        if not places:
            return [f"{indent}return 2, {words}"]
        low, high = places[0].low, places[0].high
        least, most = self._range(value)
        lines = self._index_check(places, index, indent, words)
        stored = self._number(value)
        if self._is_instant(path):
            slack = self._slack(path)
            if least < low + (slack is not None):
                stored = f"max({stored}, {low if slack is None else f'({low} if {slack} else {low + 1})'})"
                least = max(least, low)
                most = max(most, low + (slack is not None))
        if least < low or most > high:
            lines += [f"{indent}v = {stored}", f"{indent}if v < {low} or v > {high}:", f"{indent}    return 2, {words}"]
            stored = "v"
        if isinstance(value, Int) and stored.lstrip("-").isdigit():
            distance = str(int(stored) - low)
        else:
            distance = f"({stored}) - {low}" if low else stored
        if len(places) == 1 or isinstance(index, Int):
            place = places[0] if index is None else place_of(places, index) if isinstance(index, Int) else places[0]
            return [*lines, indent + self._store(place, index, distance)]
        lines += [f"{indent}v = {distance}", f"{indent}at = {self._number(index)}"]
        for position, place in enumerate(places):
            word = "if" if position == 0 else "elif"
            lines += [
                f"{indent}{word} at < {place.first + place.length}:",
                f"{indent}    {self._store(place, Local('at'), 'v')}",
            ]
        return lines

    def _index_check(self, places: tuple[Place, ...], index: Expression | None, indent: str, words: str) -> list[str]:
        """A write beside the array would change its neighbours."""
        length = places[-1].first + places[-1].length
        least, most = self._range(index) if index is not None else (0, 0)
        if index is None or (least >= 0 and most < length):
            return []
        return [
            f"{indent}at = {self._number(index)}",
            f"{indent}if at < 0 or at >= {length}:",
            f"{indent}    return 2, {words}",
        ]

    def _store(self, place: Place, index: Expression | None, distance: str) -> str:
        word, mask = self.words[place.word], (1 << place.width) - 1
        if place.width == 0:
            return "pass"
        if index is None or isinstance(index, Int):
            shift = place.shift + (0 if index is None else place.width * (index.value - place.first))
            kept = _signed(~(mask << shift))
            moved = str(_signed(int(distance) << shift)) if distance.isdigit() else f"({distance}) << {shift}"
            return f"{word} = ({word} & {kept}) | ({moved})"
        shift_term = self._shift(place, index)
        return f"at_bit = {shift_term}; {word} = ({word} & ~({mask} << at_bit)) | (({distance}) << at_bit)"

    def _tick(self, indent: str) -> list[str]:
        """The clock stays where it is, and all instants become one older, down to their floor."""
        lines = []
        for path, place, shift in self._instants():
            word, slack = self.words[place.word], self._slack(path)
            mask, one = _signed(((1 << place.width) - 1) << shift), _signed(1 << shift)
            lines += [
                f"{indent}if {word} & {mask} != {0 if slack is None else f'(0 if {slack} else {one})'}:",
                f"{indent}    {word} = {word} - {one}",
            ]
        return lines

    def _tick_back(self, indent: str, words: str) -> list[str]:
        """The clock stays where it is, and all instants become one younger; the youngest would leave its range."""
        lines = []
        for _, place, shift in self._instants():
            word, most = self.words[place.word], place.high - place.low
            lines += [
                f"{indent}if ({word} >> {shift}) & {(1 << place.width) - 1} == {most}:",
                f"{indent}    return 2, {words}",
                f"{indent}{word} = {word} + {_signed(1 << shift)}",
            ]
        return lines

    def _instants(self) -> Iterator[tuple[tuple[str, ...], Place, int]]:
        """Each instant: its path, its place, and its lowest bit."""
        for path, places in self.packing.places.items():
            if places and self._is_instant(path):
                for place in places:
                    for i in range(place.length):
                        yield path, place, place.shift + place.width * i

    def _is_instant(self, path: tuple[str, ...]) -> bool:
        return next(slot for slot in self.packing.slots if slot.path == path).kind is Kind.INSTANT

    def _slack(self, path: tuple[str, ...]) -> str | None:
        """The condition under which the floor of an instant is the low end of its range, where there is one."""
        slack = next(slot for slot in self.packing.slots if slot.path == path).slack
        if slack is None or slack in self.switches:
            return None if slack is None else self.switches[slack]
        return str(bool(getattr(self.constants, slack)))


def _signed(value: int) -> int:
    """The 64-bit two's complement number with the same bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
