"""Which states lie on a shortest path, level by level backwards: a part of every generated module."""


@inlined
def goals_in(verdict, bits, goals):
    """The goals whose bit is in a verdict."""
    found = 0
    for i in range(bits.shape[0]):
        if verdict[bits[i] // CLAIMS_A_WORD] >> bits[i] % CLAIMS_A_WORD & 1:
            found |= i64(goals[i])
    return found


@compiled
def mark_verdict(states, room, regions, region, first, last, K, bits, goals, verdict, marks):
    """Mark the states of a region for which `judge` gives some of the bits, each with the goal of the bit.

    A goal is a bit of a mark; in `verdict` there is room for what `judge` gives.
    """
    for some in range(first, last, AHEAD):
        stop = min(some + AHEAD, last)
        verdict[:] = 0
        judge_run(states, region * room + some, region * room + stop, K, verdict)
        if goals_in(verdict, bits, goals) != 0:
            for place in range(some, stop):
                verdict[:] = 0
                judge(states, region * room + place, K, verdict)
                marks[(place << regions) | region] |= goals_in(verdict, bits, goals)


@compiled
def mark_last_steps(states, room, regions, region, first, last, K, found, steps, parents, bits, goals, verdict, marks):
    """Mark the states of a region for whose successors, before they forget, `judge` gives some of the bits."""
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand(states, base + x, base + last, K, found, steps, parents, most)
        x = reached - base
        verdict[:] = 0
        judge_run(found, 0, m, K, verdict)
        if goals_in(verdict, bits, goals) != 0:
            for j in range(m):
                verdict[:] = 0
                judge(found, j, K, verdict)
                marks[((parents[j] - base) << regions) | region] |= goals_in(verdict, bits, goals)


@compiled
def mark_before(
    states, room, regions, region, first, last, starts, ends, table, K, found, steps, parents, before, goals, marks
):
    """Mark the states of a region with the goals of their successors in the level that starts and ends say.

    No mark has more goals than `goals`.
    """
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand_and_forget(states, base + x, base + last, K, found, steps, parents, before, most)
        x = reached - base
        for j in range(m):
            parent = ((parents[j] - base) << regions) | region
            if marks[parent] != goals:
                number = number_of(found, j * WORDS, states, room, regions, table)
                if number >= 0 and marks[number] != 0:
                    r = number & ((1 << regions) - 1)
                    if starts[r] <= number >> regions < ends[r]:
                        marks[parent] |= marks[number]


@compiled
def mark_before_keys(
    states, room, regions, region, first, last, table, beside, keep, K, found, steps, parents, before, marks
):
    """Mark the states of a region with what is marked beside the keys of their successors."""
    slots = table.shape[0]
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand_and_forget(states, base + x, base + last, K, found, steps, parents, before, most)
        x = reached - base
        for j in range(m):
            key = key_of(found, j * WORDS, keep)
            p = place_of(key, slots)
            while table[p] != u64(0):
                if table[p] == key:
                    marks[((parents[j] - base) << regions) | region] |= beside[p]
                    break
                p = after(p, slots)
