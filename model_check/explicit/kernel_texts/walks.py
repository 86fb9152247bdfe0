"""Random walks over packed states: the last part of every generated module.

A walk depends on its seed and number and on the tables of a choice only (see `model_check.walks.choices`, and
`model_check.walks.dice`, which does the same without the compiler). Walks are taken in lock-step, because the
successors of many states at once take a tenth of the time that they take one by one.
"""

LOCK_STEP = 128  # walks that are taken together
STRIDE = u64(0x9E3779B97F4A7C15)


@inlined
def scrambled(z):
    """The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


@inlined
def part_of(draw, total):
    """The number below a total, itself below 2^32, on which a draw of 64 bits falls: of 2^64 it is the same part."""
    low = ((draw & u64(0xFFFFFFFF)) * total) >> u64(32)
    return ((draw >> u64(32)) * total + low) >> u64(32)


@inlined
def beginning(seed, number):
    """The state of the generator before the first step of a walk."""
    return scrambled(u64(seed) * STRIDE + u64(1)) ^ scrambled(u64(number) + STRIDE)


@inlined
def draw_switches(state, is_on, at):
    """Draw the switches that are on in the walk that begins so; switch 0 always is."""
    is_on[at, 0] = 1
    bits = u64(0)
    for g in range(1, is_on.shape[1]):
        if (g - 1) % 64 == 0:
            bits = scrambled(~state + u64((g - 1) // 64) * STRIDE)
        is_on[at, g] = i64(bits & u64(1))
        bits >>= u64(1)


@compiled
def begin(initial, seed, first, count, here, walker, states, is_on):
    """Put so many walks at their beginning; `walker` has for each place of `here` the walk that is there."""
    for i in range(count):
        states[i] = beginning(seed, first + i)
        draw_switches(states[i], is_on, i)
        walker[i] = i
        for k in range(WORDS):
            here[i * WORDS + k] = initial[k]


@compiled
def advance(walks, count, odds, K, room):
    """Let each of the walks in `here` take a step; returns how many could, or -1 - step when one left a declared range.

    Of the steps that are enabled, the one is taken on which the draw falls, each as wide as its weight. The walks that
    took one are left in `here` and `walker`, in the same order; `picked` has the place of each one's step in `steps`.
    """
    here, walker, states, total, picked = walks
    weights, switches, is_on = odds
    successors, steps, parents = room
    m, _ = expand(here, 0, count, K, successors, steps, parents, steps.shape[0])
    if m < 0:
        return m
    for i in range(count):
        total[i] = 0
        picked[i] = -1
    for j in range(m):
        total[parents[j]] += weights[steps[j]] * is_on[walker[parents[j]], switches[steps[j]]]
    for i in range(count):
        states[walker[i]] += STRIDE
        total[i] = i64(part_of(scrambled(states[walker[i]]), u64(total[i]))) if total[i] > 0 else -1
    for j in range(m):  # the successors of one state come in the order of the steps
        i = parents[j]
        if total[i] >= 0:
            total[i] -= weights[steps[j]] * is_on[walker[i], switches[steps[j]]]
            if total[i] < 0:
                picked[i] = j
    n = 0
    for i in range(count):
        j = picked[i]
        if j >= 0:
            for k in range(WORDS):
                here[n * WORDS + k] = successors[j * WORDS + k]
            walker[n] = walker[i]
            picked[n] = j
            n += 1
    return n


@compiled
def walk(initial, seed, first, count, length, odds, tick, K, room, events):
    """Walks number first … first + count - 1; returns the events written, or -1 - step when one left a declared range.

    `tick` has for each step number by how much it moves the clock, `room` is for successors, steps and parents.
    """
    steps, rows = room[1], events.rows
    written = 0
    here = np.empty(LOCK_STEP * WORDS, dtype=np.int64)
    states = np.empty(LOCK_STEP, dtype=np.uint64)
    walker, now, lengths, total, picked = np.empty((5, LOCK_STEP), dtype=np.int64)
    walks = here, walker, states, total, picked
    row = np.empty(rows.shape[0], dtype=np.int32)
    for batch in range(0, count, LOCK_STEP):
        n = together = min(LOCK_STEP, count - batch)
        begin(initial, seed, first + batch, n, here, walker, states, odds.is_on)
        now[:] = 0
        lengths[:] = 0
        for place in range(length):
            n = advance(walks, n, odds, K, room)
            if n < 0:
                return n
            for i in range(n):
                w = walker[i]
                step = steps[picked[i]]
                now[w] += tick[step]
                at = written + w * length + place
                events.times[at] = now[w]
                events.steps[at] = step
                observe(here, i, step, K, row)
                for field in range(row.shape[0]):
                    rows[field, at] = row[field]
                lengths[w] = place + 1
        start = written
        for w in range(together):  # close the gaps behind walks that ended early
            for place in range(lengths[w]):
                at = start + w * length + place
                events.walks[written] = first + batch + w
                events.places[written] = place
                if at != written:
                    events.times[written] = events.times[at]
                    events.steps[written] = events.steps[at]
                    for field in range(row.shape[0]):
                        rows[field, written] = rows[field, at]
                written += 1
    return written


@compiled
def walk_over(initial, seed, first, count, length, odds, K, room, hashes, violated):
    """Look at the states on the same walks, the first ones included; returns how many, or -1 - step as above.

    Out, where there is room for it: the hashes of the states; the bits that they add to each walk's row of `violated`.
    """
    seen = 0
    here = np.empty(LOCK_STEP * WORDS, dtype=np.int64)
    states = np.empty(LOCK_STEP, dtype=np.uint64)
    walker, total, picked = np.empty((3, LOCK_STEP), dtype=np.int64)
    walks = here, walker, states, total, picked
    for batch in range(0, count, LOCK_STEP):
        n = min(LOCK_STEP, count - batch)
        begin(initial, seed, first + batch, n, here, walker, states, odds.is_on)
        for place in range(length + 1):
            if place > 0:
                n = advance(walks, n, odds, K, room)
                if n < 0:
                    return n
            for i in range(n):
                if hashes.shape[0] > 0:
                    hashes[seen] = hash_of(here, i * WORDS)
                if violated.shape[0] > 0:
                    judge(here, i, K, violated[batch + walker[i]])
                seen += 1
    return seen


@compiled
def hash_each(states, count, hashes):
    """The hash of each state."""
    for x in range(count):
        hashes[x] = hash_of(states, x * WORDS)


@compiled
def observe_each(states, count, steps, K, rows):
    """The observed fields of the steps that led to some states, shape (fields, count)."""
    row = np.empty(rows.shape[0], dtype=np.int32)
    for x in range(count):
        observe(states, x, steps[x], K, row)
        for field in range(row.shape[0]):
            rows[field, x] = row[field]
