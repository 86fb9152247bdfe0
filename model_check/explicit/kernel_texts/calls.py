"""What the kernels call: a part of every generated module, between `atomics.py` and `kernel.py`.

The functions are those of `code_generation/emit.py`, machine code that is called by its address. The array `K` holds
the switches of a profile and an environment, then what guards are to be evaluated, then how many steps there are, then
the addresses.
"""


@inlined
def steps_of(K):
    """Actions with their parameters chosen: the successors that a state can have."""
    return K[K.shape[0] - 5]


@compiled
def expand(states, first, last, K, found, steps, parents, room):
    """The successors of a run of states from `first` on, as far as there is room: their number, and the run's end.

    Out: the successors, the step that led to each, and the state from which it did. When a step leaves a declared
    range, -1 - step and the state are returned instead.
    """
    last = min(last, first + room // steps_of(K))
    if last <= first:
        return 0, last
    n = call_native(K[K.shape[0] - 4], (states, first, last, K, found, steps, parents))
    if n < 0:
        return -1 - (-1 - n) % steps_of(K), first + (-1 - n) // steps_of(K)
    return n, last


@compiled
def judge_run(states, first, last, K, verdict):
    """Add to the words of `verdict` the bit of each claim that is true in some of the states first … last - 1."""
    if first < last:
        call_native(K[K.shape[0] - 3], (states, first, last, K, verdict))


@compiled
def judge(states, x, K, verdict):
    """Add to the words of `verdict` the bit of each claim that is true in state x."""
    judge_run(states, x, x + 1, K, verdict)


@compiled
def observe(states, x, step, K, row):
    """What a step that led to state x shows, one number an observed field."""
    call_native(K[K.shape[0] - 2], (states, x, step, K, row))


@inlined
def sweep(states, count, K, before):
    """Take out of the first states what is over (`Machine.forget`), and copy what they were; how many have changed.

    Or -1, when a value has left its declared range.
    """
    return call_native(K[K.shape[0] - 1], (states, 0, count, K, before)) if count > 0 else 0


@compiled
def forget(states, count, K, before):
    """The same, where a value that leaves its declared range is an error."""
    changed = sweep(states, count, K, before)
    if changed < 0:
        raise OverflowError
    return changed


@compiled
def expand_and_forget(states, first, last, K, found, steps, parents, before, room):
    """The same as `expand`, with what is left of each successor when it has forgotten."""
    m, reached = expand(states, first, last, K, found, steps, parents, room)
    if FORGETS:
        forget(found, m, K, before)
    return m, reached
