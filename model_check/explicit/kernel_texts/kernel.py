"""The search over packed states, for one thread and for several: a part of every generated module.

The generated part gives `WORDS` and `CLAIMS_A_WORD`; `atomics.py`, `calls.py` and `hashing.py` come before this one.
Nothing imports this file; its text is appended, so that one file holds all that the kernels depend on.

Each thread stores the states that it finds in a region of its own, `WORDS` words a state. A state's number is its place
in the region times the number of regions, plus the region. The hash table is shared by all. In the exact mode a slot
holds 32 bits of the hash and the state's number plus one; on equal bits the words are compared. A state is written
before its slot is taken by compare-and-swap: whoever sees the slot sees the state. In the other mode a slot holds the
64-bit fingerprint, which stands for the state.
"""

AHEAD = 256  # states of which the slots are asked for at once
LINE = 8  # words in a line of the cache


@inlined
def same(words, at, others, there):
    for i in range(WORDS):
        if words[at + i] != others[there + i]:
            return False
    return True


@inlined
def home_of(number, regions, room):
    """Where the words of a state begin; `regions` is the logarithm of their number, `room` what one can hold."""
    return ((number & ((1 << regions) - 1)) * room + (number >> regions)) * WORDS


@compiled
def enter(states, room, regions, region, first, last, table, keep):
    """Put the states at places first … last - 1 of a region, which are not in the table yet, into it.

    `keep` is zero in the exact mode; otherwise it says which bits of the hash are the fingerprint.
    """
    slots = table.shape[0]
    hashes = np.empty(AHEAD, dtype=np.uint64)
    for some in range(first, last, AHEAD):
        m = min(AHEAD, last - some)
        for j in range(m):
            h = hash_of(states, home_of(((some + j) << regions) | region, regions, room))
            hashes[j] = h if keep == 0 else fingerprint_of(h, keep)
            prefetch(table, place_of(hashes[j], slots))
        for j in range(m):
            h = hashes[j]
            p = place_of(h, slots)
            slot = h
            if keep == 0:
                slot = tag_of(h) | u64((((some + j) << regions) | region) + 1)
            while swap_if_equal(table, p, u64(0), slot) != u64(0):
                p = after(p, slots)


@compiled
def number_of(words, at, states, room, regions, table):
    """The number of the state in `words`, or -1; in the exact mode only."""
    slots = table.shape[0]
    h = hash_of(words, at)
    tag = tag_of(h)
    p = place_of(h, slots)
    while table[p] != u64(0):
        if table[p] & ~LOW == tag:
            number = i64(table[p] & LOW) - 1
            if same(words, at, states, home_of(number, regions, room)):
                return number
        p = after(p, slots)
    return -1


@inlined
def stored_exactly(found, at, h, states, room, regions, region, n, table):
    """Store the state in `found` as number n of a region, unless the table knows it; whether it did."""
    slots = table.shape[0]
    p = place_of(h, slots)
    tag = tag_of(h)
    written = False
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            if not written:
                for i in range(WORDS):
                    states[(region * room + n) * WORDS + i] = found[at + i]
                written = True
            slot = swap_if_equal(table, p, u64(0), tag | u64(((n << regions) | region) + 1))
            if slot == u64(0):
                return True
        if slot & ~LOW == tag and same(found, at, states, home_of(i64(slot & LOW) - 1, regions, room)):
            return False
        p = after(p, slots)


@inlined
def stored_by_fingerprint(found, at, fingerprint, states, room, region, n, table):
    """The same where a fingerprint stands for the state."""
    slots = table.shape[0]
    p = place_of(fingerprint, slots)
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            slot = swap_if_equal(table, p, u64(0), fingerprint)
            if slot == u64(0):
                for i in range(WORDS):
                    states[(region * room + n) * WORDS + i] = found[at + i]
                return True
        if slot == fingerprint:
            return False
        p = after(p, slots)


@compiled
def search(
    states,
    room,
    regions,
    region,
    count,
    limit,
    starts,
    ends,
    claimed,
    chunk,
    chunks,
    table,
    keep,
    K,
    found,
    steps,
    parents,
    hashes,
    seen,
    out,
):
    """Expand chunks of the current level, as long as there are any and fewer than `limit` states are in this region.

    The level is the places starts[r] … ends[r] - 1 of each region r, one after the other; `claimed` counts what some
    thread has taken. `keep` is as in `enter`. Returns in `out`: the states in this region, the successors generated,
    the step that left a declared range (or -1), and the number of the state from which it did.
    """
    slots = table.shape[0]
    most = steps.shape[0]
    n = count
    generated = 0
    out[2] = -1
    total = 0
    for r in range(starts.shape[0]):
        total += ends[r] - starts[r]
    while chunks > 0 and n + chunk * steps_of(K) <= limit:
        chunks -= 1
        at = fetch_and_add(claimed, 0, chunk)
        if at >= total:
            break
        stop = min(at + chunk, total)
        offset = 0
        for r in range(starts.shape[0]):
            size = ends[r] - starts[r]
            x = starts[r] + max(at - offset, 0)
            last = starts[r] + min(stop - offset, size)
            offset += size
            base = r * room
            while x < last:
                m, reached = expand(states, base + x, base + last, K, found, steps, parents, most)
                if m < 0:
                    out[2] = -1 - m
                    out[3] = ((reached - base) << regions) | r
                    out[0] = n
                    out[1] = generated
                    return
                x = reached - base
                generated += m
                before = n
                for j in range(m):
                    h = hash_of(found, j * WORDS)
                    hashes[j] = h if keep == 0 else fingerprint_of(h, keep)
                    prefetch(table, place_of(hashes[j], slots))
                if keep == 0:
                    for j in range(m):  # most successors are known: their words will be compared
                        h = hashes[j]
                        slot = load_shared(table, place_of(h, slots))
                        if slot & ~LOW == tag_of(h) and slot != u64(0):
                            home = home_of(i64(slot & LOW) - 1, regions, room)
                            prefetch(states, home)
                            if LINE % WORDS != 0:  # they may lie in two lines of the cache
                                prefetch(states, home + WORDS - 1)
                for j in range(m):
                    if keep == 0:
                        is_new = stored_exactly(found, j * WORDS, hashes[j], states, room, regions, region, n, table)
                    else:
                        is_new = stored_by_fingerprint(found, j * WORDS, hashes[j], states, room, region, n, table)
                    if is_new:
                        n += 1
                judge_run(states, region * room + before, region * room + n, K, seen)
    out[0] = n
    out[1] = generated


@compiled
def note(states, x, K, seen):
    """Add up which clauses are violated, and which witnesses are seen, by some state."""
    judge(states, x, K, seen)


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
def mark_before(
    states, room, regions, region, first, last, starts, ends, table, K, found, steps, parents, goals, marks
):
    """Mark the states of a region with the goals of their successors in the level that starts and ends say.

    No mark has more goals than `goals`.
    """
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand(states, base + x, base + last, K, found, steps, parents, most)
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
def spread(table, first, last, low, high, aside):
    """Move the entries at first … last - 1 to their places in the whole table, those that have one in low … high - 1.

    The others are put into `aside`; returns how many. Nothing else may be done to these slots meanwhile.
    """
    slots = table.shape[0]
    m = 0
    for p in range(first, last):
        entry = table[p]
        if entry != u64(0):
            table[p] = 0
            q = place_of(entry, slots)
            if q < low:
                q = high
            while q < high and table[q] != u64(0):
                q += 1
            if q < high:
                table[q] = entry
            else:
                aside[m] = entry
                m += 1
    return m


@inlined
def put(entry, table):
    """Enter what is not in the table."""
    slots = table.shape[0]
    p = place_of(entry, slots)
    while table[p] != u64(0):
        p = after(p, slots)
    table[p] = entry


@compiled
def put_all(some, table):
    """Enter fingerprints that are not in the table."""
    for i in range(some.shape[0]):
        put(some[i], table)


@compiled
def fingerprints(states, room, regions, region, places, keep, into):
    """The fingerprints of the states at some places of a region."""
    for i in range(places.shape[0]):
        into[i] = fingerprint_of(hash_of(states, home_of((places[i] << regions) | region, regions, room)), keep)


@compiled
def put_marked(some, marks, table, beside):
    """Enter fingerprints that are not in the table, and what each is marked with beside it."""
    slots = table.shape[0]
    for i in range(some.shape[0]):
        p = place_of(some[i], slots)
        while table[p] != u64(0):
            p = after(p, slots)
        table[p] = some[i]
        beside[p] = marks[i]


@compiled
def mark_before_fingerprints(
    states, room, regions, region, first, last, table, beside, keep, K, found, steps, parents, marks
):
    """Mark the states of a region with what is marked beside the fingerprints of their successors."""
    slots = table.shape[0]
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand(states, base + x, base + last, K, found, steps, parents, most)
        x = reached - base
        for j in range(m):
            fingerprint = fingerprint_of(hash_of(found, j * WORDS), keep)
            p = place_of(fingerprint, slots)
            while table[p] != u64(0):
                if table[p] == fingerprint:
                    marks[((parents[j] - base) << regions) | region] |= beside[p]
                    break
                p = after(p, slots)
