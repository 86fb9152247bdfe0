"""The earliest instants under difference constraints: those that an SMT solver finds, and none where it finds none."""

import random

import z3

from model_check.broker_conf.moments import Timeline


def earliest_by_solver(count: int, constraints: list[tuple[int, int, int]]) -> list[int] | None:
    instants = [z3.Int(f"i{number}") for number in range(count)]
    solver = z3.Optimize()
    solver.set(priority="box")
    solver.add(instants[0] == 0)
    for later, earlier, by in constraints:
        solver.add(instants[later] - instants[earlier] >= by)
    goals = [solver.minimize(instant) for instant in instants]
    if solver.check() != z3.sat:
        return None
    return [int(str(goal.value())) for goal in goals]


def test_the_earliest_instants_are_those_of_a_solver() -> None:
    chance = random.Random(3)
    refused = 0
    for _ in range(40):
        timeline = Timeline()
        constraints = []
        for number in range(1, 6):
            assert timeline.after(number - 1) == number
            constraints.append((number, number - 1, 1))
        for _ in range(8):
            later, earlier = chance.sample(range(6), 2)
            wanted = (later, earlier, chance.randint(-12, 9))
            expected = earliest_by_solver(6, [*constraints, wanted])
            before = list(timeline.instants)
            assert timeline.require(*wanted) is (expected is not None)
            if expected is None:
                assert timeline.instants == before
                refused += 1
            else:
                constraints.append(wanted)
                assert timeline.instants == expected
    assert refused > 20


def test_going_back_forgets_instants_and_constraints() -> None:
    timeline = Timeline()
    first = timeline.after(0)
    mark = timeline.mark()
    assert timeline.require(first, 0, 100)
    timeline.after(first)
    timeline.back(mark)
    assert timeline.instants == [0, 1]
    assert timeline.require(0, first, -50)
    assert not timeline.require(first, 0, 51)
    assert timeline.after(first) == 2
    assert timeline.instants == [0, 1, 2]
