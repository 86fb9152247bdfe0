"""From a machine in an instance to a module of LLVM's intermediate representation: the functions that kernels call.

`expand` and `forget` are written by `steps.py` and `forgetting.py`; `judge` says which clauses a state violates and
which witnesses it is, and `observe` what a step shows.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from model_check.explicit.code_generation.expressions import Function, Module, bits_for
from model_check.explicit.code_generation.forgetting import forget_functions
from model_check.explicit.code_generation.packing import WORD_BITS, Packing
from model_check.explicit.code_generation.runs import BYTE, EIGHT, EIGHT_WORDS, RUN, extraction_function, run_loop
from model_check.explicit.code_generation.steps import (
    GUARDS_A_FUNCTION,
    STATES,
    expand_function,
    guard_functions,
    step_function,
)
from model_check.front_end.lower import Lowering
from model_check.front_end.possible_steps import GuardParts, occasions_of
from model_check.front_end.terms import Expression, Statement, apply
from spec.language import NONE, Machine, Property

if TYPE_CHECKING:
    from collections.abc import Iterator


OBSERVED = ("transaction", "half", "copy", "op", "check_times", "outcome")
"""The event fields that an action may show, in the order of a row."""

FUNCTIONS = ("expand", "judge", "observe", "forget")
"""The functions that kernels call; `model_check.explicit.kernel_texts.calls` has their parameters."""

CLAIMS_A_WORD = 62
"""Clauses and witnesses of which one word of a verdict has the bits."""

COLUMNS = (
    "ptr noalias nocapture readonly %columns, i64 %count, ptr noalias nocapture readonly %K, ptr noalias nocapture %out"
)
_SHOWN = (
    "ptr noalias nocapture readonly %states, i64 %x, i64 %step, ptr noalias nocapture readonly %K, "
    "ptr noalias nocapture %out"
)


class Emitter:
    """The functions of one machine in one instance.

    Switches stay open and are read from the array `K` at run time, in the machine's order.
    """

    guard_parts: GuardParts  # known when the source is

    def __init__(self, machine: Machine, constants: object, packing: Packing) -> None:
        self.machine = machine
        self.constants = constants
        self.packing = packing
        # the common part of all functions
        self.module = Module(packing, {name: i for i, name in enumerate(machine.switches)}, constants)
        self.lowering = Lowering(machine, constants)
        self.steps = machine.steps(constants)

    def source(self) -> str:
        """The text of the module."""
        module, packing = self.module, self.packing
        actions = [self.lowering.action(step) for step in self.steps]
        self.guard_parts = GuardParts.of(occasions_of(actions, self.forgetting, packing.slots), GUARDS_A_FUNCTION)
        guards = guard_functions(module, actions, self.guard_parts.parts)
        steps = [step_function(module, number, action, len(actions)) for number, action in enumerate(actions)]
        expand = expand_function(packing.words, len(actions), len(guards)), extraction_function(packing)
        forget = forget_functions(module, self.forgetting)
        return module.text([*steps, *guards, *expand, *self._judge(), self._observe(), *forget])

    @cached_property
    def forgetting(self) -> tuple[Statement, ...]:
        """The statements that follow each step; none where nothing can be taken out of a state."""
        return self.lowering.forgetting()

    @property
    def verdict_words(self) -> int:
        """The words that the bits of all clauses and witnesses take."""
        return -(-(len(self.machine.clauses) + len(self.machine.witnesses)) // CLAIMS_A_WORD) or 1

    def claims(self) -> Iterator[Expression]:
        """One term a clause, true where it is violated; then one a witness, true where it is seen."""
        for clause in self.machine.clauses:
            yield apply("not", apply("and", *self._instances(clause)))
        for witness in self.machine.witnesses:
            yield apply("or", *self._instances(witness))

    def _instances(self, claim: Property) -> list[Expression]:
        choices = (choice.values(self.constants) for choice in claim.parameters.values())
        return [self.lowering.claim(claim, arguments) for arguments in product(*choices)]

    # --- judging ------------------------------------------------------------------------------------------------------

    def _judge(self) -> Iterator[str]:
        """`judge(states, first, last, K, verdict)`: adds the bit of each claim true in some state."""
        by_bits: dict[int, list[tuple[int, Expression]]] = {}
        for number, claim in enumerate(self.claims()):
            by_bits.setdefault(bits_for(self.packing, (), [claim]), []).append((number, claim))
        lines = ["call.0:"]
        for bits, claims in by_bits.items():
            lines.append(f"  call void @judge_{bits}(ptr %columns, i64 %count, ptr %K, ptr %masks)")
            yield f"define internal void @judge_{bits}({COLUMNS}) nounwind {{\n{self._claim_masks(bits, claims)}\n}}"
        lines += ["  call void @add_up(ptr %masks, ptr %out)", "  br label %call.1"]
        given = "ptr noalias nocapture readonly %masks, ptr noalias nocapture %out"
        yield f"define internal void @add_up({given}) nounwind {{\n{self._verdict_bits()}\n}}"
        size = WORD_BITS * self.verdict_words
        entry = f"%masks = alloca [{size} x i64], align {RUN}\n"
        entry += f"  call void @llvm.memset.p0.i64(ptr align {RUN} %masks, i8 0, i64 {size * BYTE}, i1 false)"
        yield run_loop(self.packing.words, "judge", f"{STATES}, ptr noalias nocapture %out", lines, 1, "0", entry)

    def _claim_masks(self, bits: int, claims: list[tuple[int, Expression]]) -> str:
        """The states of a run in which each claim is true, as masks: `WORD_BITS` of them a word of the verdict.

        Lanes of so many bits are enough for these claims: what several of them read is read once.
        """
        f = Function(self.module)
        f.look_at_run(bits)
        for number, term in claims:
            word, bit = divmod(number, CLAIMS_A_WORD)
            address = f.code.value(f"getelementptr inbounds i64, ptr %out, i64 {WORD_BITS * word + bit}")
            f.code.do(f"store i64 {f.states_where(f.truth(term))}, ptr {address}")
        f.code.do("ret void")
        return f.code.text()

    def _verdict_bits(self) -> str:
        """Set the bits of the claims whose masks have one, eight claims at a time."""
        code = Function(self.module).code
        for word in range(self.verdict_words):
            seen = "0"
            for first in range(0, WORD_BITS, EIGHT):
                address = code.value(f"getelementptr inbounds i64, ptr %masks, i64 {WORD_BITS * word + first}")
                masks = code.value(f"load {EIGHT_WORDS}, ptr {address}, align {RUN}")
                some = code.value(f"icmp ne {EIGHT_WORDS} {masks}, zeroinitializer")
                bits = code.value(f"zext i{EIGHT} {code.value(f'bitcast <{EIGHT} x i1> {some} to i{EIGHT}')} to i64")
                seen = code.value(f"or i64 {seen}, {code.value(f'shl i64 {bits}, {first}')}")
            address = code.value(f"getelementptr inbounds i64, ptr %out, i64 {word}")
            before = code.value(f"load i64, ptr {address}")
            code.do(f"store i64 {code.value(f'or i64 {before}, {seen}')}, ptr {address}")
        code.do("ret void")
        return code.text()

    # --- observing ----------------------------------------------------------------------------------------------------

    def _observe(self) -> str:
        """`observe(states, x, step, K, row)`: what a step that led to state x shows, one number an observed field."""
        f = Function(self.module)
        code = f.code
        addresses = [code.value(f"getelementptr inbounds i32, ptr %out, i64 {i}") for i in range(len(OBSERVED))]
        for name, address in zip(OBSERVED, addresses, strict=True):
            code.do(f"store i32 {0 if name == 'outcome' else NONE}, ptr {address}")
        cases = " ".join(f"i64 {n}, label %shows_{n}" for n, step in enumerate(self.steps) if step.action.shows)
        code.do(f"switch i64 %step, label %over [ {cases} ]")
        for number, step in enumerate(self.steps):
            if step.action.shows:
                code.start(f"shows_{number}")
                with code.conditional():
                    for name, function in step.action.shows.items():
                        shows = f.number(self.lowering.observation(function, step.arguments[:1]))
                        narrow = code.value(f"trunc i64 {shows} to i32")
                        code.do(f"store i32 {narrow}, ptr {addresses[OBSERVED.index(name)]}")
                code.jump("over")
        code.start("over")
        code.do("ret i64 0")
        return f"define i64 @observe({_SHOWN}) nounwind {{\n{code.text()}\n}}"
