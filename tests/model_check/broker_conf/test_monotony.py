"""What only takes behaviours away breaks nothing more: fewer immunities, and a limit on local transactions."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest

from model_check.broker_conf.answer import check_configuration
from model_check.broker_conf.judgement import MOST_STATES
from model_check.configuration import Configuration
from model_check.engines import COMPILED, CPYTHON
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.world import Environment
from tests.model_check.broker_conf.drawn import drawn, restricted

if TYPE_CHECKING:
    from model_check.engines import CompiledSearch, CPythonSearch

pytestmark = pytest.mark.untraced

PAIRS = 500


@cache
def verdicts(
    configuration: Configuration, environment: Environment, engine: CompiledSearch | CPythonSearch
) -> dict[str, Verdict]:
    """Where the search is cut short as those of users are, nothing holds."""
    tiny = load_instance("tiny")
    found = check_configuration(configuration, environment, tiny, engine=engine, most_states=MOST_STATES)
    return {row.name: row.verdict for row in found.finding.rows}


def broken_only_with_less(
    wide: Configuration, narrow: Configuration, environment: Environment, engine: CompiledSearch | CPythonSearch
) -> set[str]:
    """What holds of the one and is broken of the other, which has fewer behaviours."""
    of_wide, of_narrow = verdicts(wide, environment, engine), verdicts(narrow, environment, engine)
    return {
        name for name, verdict in of_wide.items() if verdict is Verdict.HOLDS and of_narrow[name] is Verdict.VIOLATED
    }


def test_a_limit_on_local_transactions_breaks_nothing_more() -> None:
    """The default times of 4.9.7 and an immunity as long as the timeout: ten are broken with and without the limit."""
    wide = Configuration.of_release("4.9.7", immunities_ms=(6_000,))
    narrow = Configuration.of_release("4.9.7", immunities_ms=(6_000,), local_ms=2_000)
    assert broken_only_with_less(wide, narrow, Environment(), CPYTHON) == set()
    for one in (wide, narrow):
        found = verdicts(one, Environment(), CPYTHON)
        broken = {name for name, verdict in found.items() if verdict is Verdict.VIOLATED}
        assert {"S1.immune_half", "S1.late_op", "S9.immune_half", "L2.immunity_burns_checks"} < broken
        assert len(broken) == 10


@pytest.mark.sweep
def test_five_hundred_pairs() -> None:
    chance = Random(2026)
    compared, cut, wrong = 0, 0, []
    while compared < PAIRS:
        wide, environment = drawn(chance)
        for what, narrow in restricted(wide):
            compared += 1
            cut += Verdict.HOLDS not in verdicts(wide, environment, COMPILED).values()
            more = broken_only_with_less(wide, narrow, environment, COMPILED)
            wrong += [(what, wide, environment, more)] if more else []
        verdicts.cache_clear()
        print(compared, cut, len(wrong), flush=True)
    assert wrong == []
    assert cut < PAIRS // 50, "of a search that was cut short nothing is compared"
