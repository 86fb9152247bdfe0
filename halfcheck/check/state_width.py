"""``halfcheck check --width``: of how many bits a state of an instance is, and which fields take them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from halfcheck.check.chosen_instance import choose_instance
from halfcheck.printing.counterexample_table import wide_console
from halfcheck.printing.fitting_table import FittingTable
from model_check.explicit.code_generation.width import state_width
from model_check.instances import constants_for
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from halfcheck.check.check_options import CheckOptions


def print_width(options: CheckOptions) -> None:
    """A row a field, and the sum; the same as JSON."""
    profile = options.only_profile
    instance = options.instance or choose_instance(
        profile, options.environment, options.clauses, "as --width measures one"
    )
    measured = state_width(TRANSACTIONAL_MESSAGES, constants_for(profile, (), instance))
    if options.as_json:
        print(json.dumps(measured.to_json(), indent=2))
        return
    table = FittingTable("field", ">from", ">to", ">elements", ">bits")
    for field in measured.fields:
        table.add_row(field.name, str(field.low), str(field.high), str(field.elements), str(field.bits))
    console = wide_console()
    console.print(table)
    console.print(
        f"{measured.bits} bits in {measured.words} words of 64, {measured.unused} unused; "
        f"{measured.steps} steps are tried on each state"
    )
