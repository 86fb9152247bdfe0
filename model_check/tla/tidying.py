"""Names of a LET that are worth their line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from model_check.front_end.terms import parts
from model_check.tla.values import Binding, LetIn, TlaLocal, Use, Value, replace, with_local

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def tidied(
    bindings: Sequence[Binding],
    changed: dict[str, Value],
    made_up: Collection[str],
    uses_of_effects: Sequence[Use] = (),
) -> tuple[list[Binding], dict[str, Value]]:
    """Without names that nothing uses, and with what has no name in the source in the one place that uses it."""
    kept = list(bindings)
    for binding in reversed(bindings):
        used = Counter(p for v in [*changed.values(), *(b.value for b in kept)] for p in parts(v))[
            TlaLocal(binding.name)
        ]
        arguments = Counter(p for use in uses_of_effects for p in parts(use))[TlaLocal(binding.name)]
        if used + arguments == 0:
            kept.remove(binding)
        elif (
            used == 1
            and arguments == 0
            and binding.name in made_up
            and binding.variable is None
            and not _is_bound_around_it(binding, [*changed.values(), *(b.value for b in kept)])
        ):
            kept.remove(binding)
            changed = {name: with_local(value, binding.name, binding.value) for name, value in changed.items()}
            kept = [
                Binding(b.name, with_local(b.value, binding.name, binding.value), b.variable, b.domain) for b in kept
            ]
    return kept, changed


def _is_bound_around_it(binding: Binding, values: Sequence[Value]) -> bool:
    """Whether a variable that its value binds is bound where its name stands, too: TLA+ has no name twice."""
    own = {variable for part in parts(binding.value) if (variable := getattr(part, "variable", None))}
    return any(
        getattr(part, "variable", None) in own and TlaLocal(binding.name) in parts(part)
        for value in values
        for part in parts(value)
    )


def tidied_within(value: Value, made_up: Collection[str]) -> Value:
    """A value of which each LET in it is tidy."""

    def tidy(part: Value) -> Value | None:
        if not isinstance(part, LetIn):
            return None
        bindings, changed = tidied(part.bindings, {"": part.body}, made_up)
        body = replace(changed[""], tidy)
        if not bindings:
            return body
        return LetIn(tuple(Binding(b.name, replace(b.value, tidy), b.variable, b.domain) for b in bindings), body)

    return replace(value, tidy)
