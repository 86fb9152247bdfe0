"""The search over packed states, for one thread and for several: a part of every generated module.

The generated part, written by `model_check.explicit.emit`, gives `WORDS`, `STEPS`, `compiled`, `expand` and `judge`;
`atomics.py` comes before it. Nothing imports this file; its text is appended, so that one file holds all that a verdict
depends on.

Each thread stores the states that it finds in a region of its own, `WORDS` words a state. A state's number is its place
in the region times the number of regions, plus the region. The hash table, shared by all, holds in each slot 32 bits of
the hash and the state's number plus one; on equal bits the words are compared, so that the search is exact. A state is
written before its slot is taken by compare-and-swap: whoever sees the slot sees the state. Slots are found by the
hash's top bits.
"""

LOW = u64(0xFFFFFFFF)
AHEAD = 256  # states of which the slots are asked for at once
MIX_1 = u64(0x9E3779B97F4A7C15)
MIX_2 = u64(0xD6E8FEB86659FD93)


@inlined
def hash_of(words, at):
    h = u64(0)
    for i in range(WORDS):
        h = (h ^ u64(words[at + i])) * MIX_1
        h ^= h >> u64(32)
    h *= MIX_2
    return h ^ (h >> u64(29))


@inlined
def tag_of(h):
    return (h * MIX_1) & ~LOW


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
def enter(states, room, regions, region, first, last, table, top):
    """Put the states at places first … last - 1 of a region, which are not in the table yet, into it."""
    mask = u64(table.shape[0] - 1)
    hashes = np.empty(AHEAD, dtype=np.uint64)
    for some in range(first, last, AHEAD):
        m = min(AHEAD, last - some)
        for j in range(m):
            h = hash_of(states, home_of(((some + j) << regions) | region, regions, room))
            hashes[j] = h
            prefetch(table, h >> u64(top))
        for j in range(m):
            h = hashes[j]
            slot = tag_of(h) | u64((((some + j) << regions) | region) + 1)
            p = h >> u64(top)
            while swap_if_equal(table, p, u64(0), slot) != u64(0):
                p = (p + u64(1)) & mask


@compiled
def number_of(words, at, states, room, regions, table, top):
    """The number of the state in `words`, or -1."""
    mask = u64(table.shape[0] - 1)
    h = hash_of(words, at)
    tag = tag_of(h)
    p = h >> u64(top)
    while table[p] != u64(0):
        if table[p] & ~LOW == tag:
            number = i64(table[p] & LOW) - 1
            if same(words, at, states, home_of(number, regions, room)):
                return number
        p = (p + u64(1)) & mask
    return -1


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
    top,
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
    thread has taken. Returns in `out`: the states in this region, the successors generated, the step that left a
    declared range (or -1), the number of the state from which it did, and whether the level is used up.
    """
    mask = u64(table.shape[0] - 1)
    most = steps.shape[0]
    n = count
    generated = 0
    out[2] = -1
    out[4] = 0
    total = 0
    for r in range(starts.shape[0]):
        total += ends[r] - starts[r]
    while chunks > 0 and n + chunk * STEPS <= limit:
        chunks -= 1
        at = fetch_and_add(claimed, 0, chunk)
        if at >= total:
            out[4] = 1
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
                for j in range(m):
                    h = hash_of(found, j * WORDS)
                    hashes[j] = h
                    prefetch(table, h >> u64(top))
                for j in range(m):  # most successors are known: their words will be compared
                    h = hashes[j]
                    slot = load_shared(table, h >> u64(top))
                    if slot & ~LOW == tag_of(h) and slot != u64(0):
                        prefetch(states, home_of(i64(slot & LOW) - 1, regions, room))
                for j in range(m):
                    h = hashes[j]
                    p = h >> u64(top)
                    tag = tag_of(h)
                    mine = (region * room + n) * WORDS
                    written = False
                    while True:
                        slot = load_shared(table, p)
                        if slot == u64(0):
                            if not written:
                                for i in range(WORDS):
                                    states[mine + i] = found[j * WORDS + i]
                                written = True
                            number = (n << regions) | region
                            slot = swap_if_equal(table, p, u64(0), tag | u64(number + 1))
                            if slot == u64(0):
                                note(states, region * room + n, K, seen)
                                n += 1
                                break
                        if slot & ~LOW == tag and same(
                            found, j * WORDS, states, home_of(i64(slot & LOW) - 1, regions, room)
                        ):
                            break
                        p = (p + u64(1)) & mask
    out[0] = n
    out[1] = generated


@compiled
def note(states, x, K, seen):
    """Add up which clauses are violated, and which witnesses are seen, by some state."""
    seen[0] |= judge(states, x, K)


@compiled
def mark_verdict(states, room, regions, region, first, last, K, bit, marks):
    """Mark the states of a region for which `judge` gives the bit."""
    for place in range(first, last):
        if judge(states, region * room + place, K) >> bit & 1:
            marks[(place << regions) | region] = 1


@compiled
def mark_before(states, room, regions, region, first, last, starts, ends, table, top, K, found, steps, parents, marks):
    """Mark the states of a region that have a marked successor in the level that starts and ends say."""
    most = steps.shape[0]
    base = region * room
    x = first
    while x < last:
        m, reached = expand(states, base + x, base + last, K, found, steps, parents, most)
        x = reached - base
        for j in range(m):
            parent = ((parents[j] - base) << regions) | region
            if marks[parent] == 0:
                number = number_of(found, j * WORDS, states, room, regions, table, top)
                if number >= 0 and marks[number] == 1:
                    r = number & ((1 << regions) - 1)
                    if starts[r] <= number >> regions < ends[r]:
                        marks[parent] = 1
