"""Calls of a machine's own code: a part of every generated module.

The functions are those of `code_generation/emit.py`, machine code that is called by its address. The array `K` holds
the switches of a profile and an environment, then flags of the guards to evaluate, then what `records.py` names.
"""


@compiled
def expand(states, first, last, K, successors, steps, parents, room):
    """The successors of a run of states from `first` on, as far as there is room: their number, and the run's end.

    Out: the successors, the step that led to each, and the state from which it did. When a step leaves a declared
    range, -1 - step and the state are returned instead.
    """
    last = min(last, first + room // K[STEPS])
    if last <= first:
        return 0, last
    n = call_native(K[EXPAND], (states, first, last, K, successors, steps, parents))
    if n < 0:
        return -1 - (-1 - n) % K[STEPS], first + (-1 - n) // K[STEPS]
    return n, last


@compiled
def judge_run(states, first, last, K, verdict):
    """Add to the words of `verdict` the bit of each claim that is true in some of the states first … last - 1."""
    if first < last:
        call_native(K[JUDGE], (states, first, last, K, verdict))


@compiled
def judge(states, x, K, verdict):
    """Add to the words of `verdict` the bit of each claim that is true in state x."""
    judge_run(states, x, x + 1, K, verdict)


@compiled
def observe(states, x, step, K, row):
    """The observed fields of a step that led to state x, one number each."""
    call_native(K[OBSERVE], (states, x, step, K, row))


@inlined
def sweep(states, count, K, before):
    """Let the first states forget (`Machine.forget`), and copy what those were that change; how many they are.

    Or -1, when a value has left its declared range.
    """
    return call_native(K[FORGET], (states, 0, count, K, before)) if count > 0 else 0


@compiled
def forget(states, count, K, before):
    """`sweep`, where a value that leaves its declared range is an error."""
    changed = sweep(states, count, K, before)
    if changed < 0:
        raise OverflowError
    return changed


@compiled
def expand_and_forget(states, first, last, K, buffers):
    """`expand` into buffers, where each successor forgets."""
    m, reached = expand(
        states, first, last, K, buffers.successors, buffers.steps, buffers.parents, buffers.steps.shape[0]
    )
    if FORGETS:
        forget(buffers.successors, m, K, buffers.before)
    return m, reached


@compiled
def judge_each(states, count, K, verdicts):
    """The verdict on each state, shape (count, words of a verdict)."""
    verdicts[:] = 0
    for x in range(count):
        judge(states, x, K, verdicts[x])
