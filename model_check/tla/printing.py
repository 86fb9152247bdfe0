"""Values as TLA+ text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_check.front_end.open_terms import Constant, EmptySet, Member, Named, Now, OpenNumber, Truth
from model_check.tla.layout import WIDTH, Block, hang, indented, junction, separated
from model_check.tla.values import (
    Accessors,
    Aged,
    Binding,
    Except,
    LetIn,
    Mapping,
    Noted,
    Operation,
    Quantified,
    Range,
    RecordOf,
    Select,
    SetOf,
    TlaLocal,
    Update,
    Use,
    Value,
    Variable,
    Without,
    plus,
    replace,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.front_end.terms import Operator
    from model_check.tla.vocabulary import Vocabulary

ATOM, OPERAND, OPEN = 20, 6, 0
"""How tightly a text holds together: a name; what may stand beside `=`; what ends only with its surroundings."""

_INFIX: Final[dict[Operator, tuple[str, int]]] = {
    "or": ("\\/", 3),
    "and": ("/\\", 3),
    "==": ("=", 5),
    "!=": ("#", 5),
    "<": ("<", 5),
    "<=": ("<=", 5),
    ">": (">", 5),
    ">=": (">=", 5),
    "has": (r"\in", 5),
    "union": (r"\cup", 8),
    "minus": ("\\", 8),
    "+": ("+", 10),
    "-": ("-", 11),
}
_FOLDS: Final = {"any": r"\E", "all": r"\A"}
SHORT: Final = 24
"""A left operand of no more characters stays on the line of what stands behind it."""
MUCH: Final = 1 << 30
AT: Final = TlaLocal("@")


class Printer:
    """Prints values with the names of a module."""

    def __init__(self, names: Vocabulary) -> None:
        self._names = names
        self._printed: dict[int, tuple[Value, tuple[str, int]]] = {}
        """By the identity of a value, which is kept for it, its text on one line, and how tightly that holds."""

    def block(self, value: Value, room: int = WIDTH) -> Block:
        """A value on one line where it fits, or broken over several."""
        text = self.flat(value)
        if len(text) <= room:
            return [text]
        return self._broken(value, room)

    def right_side(self, value: Value, room: int) -> Block:
        """A value behind an `=` sign: a claim stands in parentheses there."""
        if OPEN < self._flat(value)[1] < OPERAND:
            return hang("(", self.block(value, room - 2), ")")
        return self.block(value, room)

    def flat(self, value: Value, least: int = OPEN) -> str:
        """A value on one line, in parentheses where it holds together less than wanted."""
        text, level = self._flat(value)
        return text if level >= least else f"({text})"

    # --- on one line --------------------------------------------------------------------------------------------------

    def _flat(self, value: Value) -> tuple[str, int]:
        known = self._printed.get(id(value))
        if known is None:
            known = self._printed[id(value)] = value, self._text(value)
        return known[1]

    def _text(self, value: Value) -> tuple[str, int]:
        match value:
            case OpenNumber(value=number):
                return str(number), ATOM if number >= 0 else 12
            case Operation():
                return self._operation(value)
            case Select(base=base, accessors=accessors):
                return self.flat(base, ATOM) + self._way(accessors), ATOM
            case Use(function=function, arguments=arguments):
                return self._applied(self._names.operator(function), [self.flat(a) for a in arguments]), ATOM
            case Noted(note=note, arguments=arguments):
                return self._applied(self._names.note(note), [self.flat(a) for a in arguments]), ATOM
            case Without(state=state, array=array, place=place):
                return self._applied(self._names.removal(array), [self.flat(state), self.flat(place)]), ATOM
            case Aged(how=how, instant=instant, cut=cut, slack=slack):
                own = [] if instant is None else [self.flat(instant)]
                return self._applied(self._names.note(how), [*own, self.floor(cut, slack)]), ATOM
            case Quantified(fold="sum", variable=variable, domain=domain, body=body):
                return f"{self._names.note('Cardinality')}({self.flat(SetOf(variable, domain, body))})", ATOM
            case Quantified(fold=fold, variable=variable, domain=domain, body=body):
                return f"{_FOLDS[fold]} {variable} \\in {self.range(domain)} : {self.flat(body)}", OPEN
            case LetIn(bindings=bindings, body=body):
                return (
                    f"LET {' '.join(self._binding(b) + self.flat(b.value) for b in bindings)} IN {self.flat(body)}",
                    OPEN,
                )
        return self._composed(value), ATOM

    def _composed(self, value: Value) -> str:
        match value:
            case Truth(value=truth):
                return "TRUE" if truth else "FALSE"
            case EmptySet():
                return "{}"
            case Member(name=name):
                return f'"{name}"'
            case Named():
                return self._names.named(value)
            case Now():
                return self._names.note("Now")
            case Constant(name=name):
                return self._names.constant(name)
            case Variable(name=name) | TlaLocal(name=name):
                return name
            case Except(base=base):
                return f"[{self.flat(base)} EXCEPT {', '.join(self.flat_update(u) for u in self._updates(value))}]"
            case Mapping(variable=variable, domain=domain, body=body):
                return f"[{variable} \\in {self.range(domain)} |-> {self.flat(body)}]"
            case SetOf(variable=variable, domain=domain, condition=condition):
                return f"{{{variable} \\in {self.range(domain)} : {self.flat(condition)}}}"
            case RecordOf(entries=entries):
                return f"[{', '.join(f'{name} |-> {self.flat(entry)}' for name, entry in entries)}]"
        raise AssertionError(value)

    def _applied(self, operator: str, arguments: Sequence[str]) -> str:
        return f"{operator}({', '.join(arguments)})" if arguments else operator

    def _operation(self, value: Operation) -> tuple[str, int]:
        match value.operator, value.arguments:
            case "if", (test, then, otherwise):
                return f"IF {self.flat(test)} THEN {self.flat(then)} ELSE {self.flat(otherwise)}", OPEN
            case "only", (member,):
                return f"{{{self.flat(member)}}}", ATOM
            case "is_empty", (collection,):
                return f"{self.flat(collection, 6)} = {{}}", 5
            case "not", (Operation("is_empty", (collection,)),):
                return f"{self.flat(collection, 6)} # {{}}", 5
            case "not", (Operation("has", (collection, member)),):
                return f"{self.flat(member, 6)} \\notin {self.flat(collection, 6)}", 5
            case "not", (inner,):
                return f"~{self.flat(inner, 5)}" if self._flat(inner)[1] == ATOM else f"~({self.flat(inner)})", 4
            case "has", (collection, member):
                return f"{self.flat(member, 6)} \\in {self.flat(collection, 6)}", 5
            case "and" | "or", arguments:
                symbol, level = _INFIX[value.operator]
                return f" {symbol} ".join(self.flat(a, level + 1) for a in arguments), level
            case operator, (first, second):
                symbol, level = _INFIX[operator]
                left = level if operator in ("+", "-", "union") and self._flat(first)[1] == level else level + 1
                return f"{self.flat(first, left)} {symbol} {self.flat(second, level + 1)}", level
        raise AssertionError(value)

    def floor(self, cut: str, slack: str | None) -> str:
        """The age from which instants are no longer told apart."""
        own = self._names.constant(cut)
        return own if slack is None else self._applied(self._names.note("Floor"), [own, self._names.constant(slack)])

    def range(self, domain: Range) -> str:
        """The set of the whole numbers of a range."""
        if domain.low == OpenNumber(0) and isinstance(domain.high, Constant):
            name = self._names.index_set(domain.high.name)
            if name is not None:
                return name
        return f"{self.flat(domain.low, 10)}..{self.flat(plus(domain.high, -1), 10)}"

    def _way(self, accessors: Accessors) -> str:
        return "".join(f".{a}" if isinstance(a, str) else f"[{self.flat(a.place)}]" for a in accessors)

    def _binding(self, binding: Binding) -> str:
        place = ""
        if binding.variable is not None and binding.domain is not None:
            place = f"[{binding.variable} \\in {self.range(binding.domain)}]"
        return f"{binding.name}{place} == "

    def flat_update(self, update: Update) -> str:
        """One part of an EXCEPT."""
        return f"!{self._way(update.accessors)} = {self.right_side(update.value, MUCH)[0]}"

    def _updates(self, value: Except) -> list[Update]:
        """The parts of an EXCEPT, with `@` for what the part was before."""
        root, way = _chain(value.base)
        seen: list[tuple[str, ...]] = []
        updates = []
        for update in value.updates:
            names = tuple(a for a in update.accessors if isinstance(a, str))
            own = update.value if names in seen else _with_at(update.value, root, (*way, *update.accessors))
            updates.append(Update(update.accessors, own))
            seen.append(names)
        return updates

    # --- on several lines ---------------------------------------------------------------------------------------------

    def _broken(self, value: Value, room: int) -> Block:
        match value:
            case Operation("and" | "or" as operator, arguments):
                symbol = _INFIX[operator][0]
                return junction(symbol, [self.block(a, room - 3) for a in arguments])
            case Operation("if", (test, then, otherwise)):
                return self._broken_if(test, then, otherwise, room)
            case Operation("not", (inner,)):
                return hang("~(", self.block(inner, room - 3), ")")
            case Operation(operator, (first, second)) if operator in _INFIX and operator != "has":
                return self._broken_infix(operator, first, second, room)
            case Quantified(fold="any" | "all" as fold, variable=variable, domain=domain, body=body):
                head = f"{_FOLDS[fold]} {variable} \\in {self.range(domain)} :"
                return [head, *indented(self.block(body, room - 4))]
            case Quantified(variable=variable, domain=domain, body=body):
                return hang(
                    f"{self._names.note('Cardinality')}(", self.block(SetOf(variable, domain, body), room - 13), ")"
                )
            case LetIn(bindings=bindings, body=body):
                return self.let(bindings, self.block(body, room - 4), room)
        return self._broken_composed(value, room)

    def _broken_composed(self, value: Value, room: int) -> Block:
        match value:
            case Except(base=base):
                updates = [self._broken_update(update, room - 4) for update in self._updates(value)]
                lines = [*hang("[", self.block(base, room - 8), " EXCEPT"), *indented(separated(updates))]
                return [*lines[:-1], lines[-1] + "]"]
            case Mapping(variable=variable, domain=domain, body=body):
                head = f"[{variable} \\in {self.range(domain)} |->"
                return [head, *hang("    ", self.block(body, room - 5), "]")]
            case SetOf(variable=variable, domain=domain, condition=condition):
                head = f"{{{variable} \\in {self.range(domain)} :"
                return [head, *hang("    ", self.block(condition, room - 5), "}")]
            case RecordOf(entries=entries):
                blocks = [hang(f"{name} |-> ", self.block(entry, room - len(name) - 6)) for name, entry in entries]
                return hang("[", separated(blocks), "]")
            case Without(state=state, array=array, place=place):
                head = f"{self._names.removal(array)}("
                return hang(head, separated([self.block(state, room - len(head)), [self.flat(place)]]), ")")
        return [self.flat(value)]

    def _broken_if(self, test: Value, then: Value, otherwise: Value, room: int) -> Block:
        lines = hang("IF ", self.block(test, room - 3))
        lines += hang("THEN ", self.block(then, room - 5))
        return lines + hang("ELSE ", self.block(otherwise, room - 5))

    def _broken_infix(self, operator: Operator, first: Value, second: Value, room: int) -> Block:
        symbol, level = _INFIX[operator]
        text = self.flat(first, level + 1)
        if len(text) <= SHORT:
            return hang(f"{text} {symbol} ", self._operand(second, level, room - len(text) - 4))
        return [*self._operand(first, level, room - 2), *hang(f"  {symbol} ", self._operand(second, level, room - 6))]

    def _operand(self, value: Value, level: int, room: int) -> Block:
        block = self.block(value, room)
        return block if self._flat(value)[1] > level else hang("(", block, ")")

    def _broken_update(self, update: Update, room: int) -> Block:
        prefix = f"!{self._way(update.accessors)} = "
        if len(self.flat_update(update)) <= room:
            return [self.flat_update(update)]
        return [prefix.rstrip(), *indented(self.right_side(update.value, room - 4))]

    def let(self, bindings: Sequence[Binding], body: Block, room: int = WIDTH) -> Block:
        """Names for values, and what they are for; that alone without names."""
        if not bindings:
            return body
        lines: Block = []
        for number, binding in enumerate(bindings):
            head = ("LET " if number == 0 else "    ") + self._binding(binding)
            text = self.flat(binding.value)
            if len(head) + len(text) <= room:
                lines.append(head + text)
            else:
                lines += [head.rstrip(), *indented(self.block(binding.value, room - 8), 8)]
        return lines + hang("IN  ", body)


def _chain(value: Value) -> tuple[Value, Accessors]:
    if not isinstance(value, Select):
        return value, ()
    root, way = _chain(value.base)
    return root, (*way, *value.accessors)


def _with_at(value: Value, root: Value, way: Accessors) -> Value:
    def at(part: Value) -> Value | None:
        if isinstance(part, Except):
            return part
        if isinstance(part, Select):
            own_root, own_way = _chain(part)
            if own_root == root and own_way[: len(way)] == way:
                rest = own_way[len(way) :]
                return Select(AT, rest) if rest else AT
        return None

    return replace(value, at)
