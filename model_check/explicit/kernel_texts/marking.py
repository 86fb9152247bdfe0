"""Marks on the states that lie on a shortest path, level by level backwards: a part of every generated module.

A mark has a bit a goal. Each kernel marks states of one region, those at places first … last - 1.
"""


@inlined
def goals_in(verdict, bits, goals):
    """The goals whose bit is in a verdict."""
    some = 0
    for i in range(bits.shape[0]):
        if verdict[bits[i] // CLAIMS_A_WORD] >> bits[i] % CLAIMS_A_WORD & 1:
            some |= i64(goals[i])
    return some


@compiled
def mark_verdict(store, region, first, last, K, bits, goals, verdict, marks):
    """Mark the states for which `judge` gives some of the bits, each with the goal of the bit.

    `verdict` is room for what `judge` gives.
    """
    for begin in range(first, last, BATCH):
        stop = min(begin + BATCH, last)
        verdict[:] = 0
        judge_run(store.states, region * store.room + begin, region * store.room + stop, K, verdict)
        if goals_in(verdict, bits, goals) != 0:
            for place in range(begin, stop):
                verdict[:] = 0
                judge(store.states, region * store.room + place, K, verdict)
                marks[number_at(store, region, place)] |= goals_in(verdict, bits, goals)


@compiled
def mark_last_steps(store, region, first, last, K, buffers, bits, goals, verdict, marks):
    """Mark the states for whose successors, before they forget, `judge` gives some of the bits."""
    successors, steps, parents = buffers.successors, buffers.steps, buffers.parents
    base = region * store.room
    x = first
    while x < last:
        m, reached = expand(store.states, base + x, base + last, K, successors, steps, parents, steps.shape[0])
        x = reached - base
        verdict[:] = 0
        judge_run(successors, 0, m, K, verdict)
        if goals_in(verdict, bits, goals) != 0:
            for j in range(m):
                verdict[:] = 0
                judge(successors, j, K, verdict)
                marks[number_at(store, region, parents[j] - base)] |= goals_in(verdict, bits, goals)


@compiled
def mark_before(store, region, first, last, starts, ends, K, buffers, goals, marks):
    """Mark the states with the goals of their successors in the level between starts and ends.

    No mark has more goals than `goals`.
    """
    base = region * store.room
    x = first
    while x < last:
        m, reached = expand_and_forget(store.states, base + x, base + last, K, buffers)
        x = reached - base
        for j in range(m):
            parent = number_at(store, region, buffers.parents[j] - base)
            if marks[parent] != goals:
                number = number_of(buffers.successors, j * WORDS, store)
                if number >= 0 and marks[number] != 0:
                    r = region_of(store, number)
                    if starts[r] <= number >> store.shift < ends[r]:
                        marks[parent] |= marks[number]


@compiled
def mark_before_keys(store, region, first, last, table, beside, K, buffers, marks):
    """Mark the states with the marks that lie beside the keys of their successors in a table."""
    slots = table.shape[0]
    base = region * store.room
    x = first
    while x < last:
        m, reached = expand_and_forget(store.states, base + x, base + last, K, buffers)
        x = reached - base
        for j in range(m):
            key = key_of(buffers.successors, j * WORDS, store.keep)
            p = line_of(key, slots)
            while table[p] != u64(0):
                if table[p] == key:
                    marks[number_at(store, region, buffers.parents[j] - base)] |= beside[p]
                    break
                p = after(p, slots)
