"""The search over packed states: the second half of every generated module.

The first half, written by `model_check.explicit.emit`, gives `WORDS`, `STEPS`, `CLAUSES`, `compiled`, `expand` and
`judge`. Nothing imports this file; its text is appended to the generated part, so that one file holds all that a
verdict depends on.

States lie one after the other in `states`, `WORDS` words each, in the order in which they were found. The hash table
holds, in each slot, 32 bits of the hash and the number of a state plus one; on equal bits the words are compared, so
that the search is exact. Slots are found by the top bits of the hash.
"""

LOW = u64(0xFFFFFFFF)
MIX_1 = u64(0x9E3779B97F4A7C15)
MIX_2 = u64(0xD6E8FEB86659FD93)


@inlined
def hash_of(words, x):
    h = u64(0)
    for i in range(WORDS):
        h = (h ^ u64(words[x * WORDS + i])) * MIX_1
        h ^= h >> u64(32)
    h *= MIX_2
    return h ^ (h >> u64(29))


@inlined
def tag_of(h):
    return (h * MIX_1) & ~LOW


@inlined
def same(words, x, others, y):
    for i in range(WORDS):
        if words[x * WORDS + i] != others[y * WORDS + i]:
            return False
    return True


@compiled
def enter(states, first, last, table, top):
    """Put states first … last - 1, all different and not yet in the table, into it."""
    mask = u64(table.shape[0] - 1)
    for x in range(first, last):
        h = hash_of(states, x)
        p = h >> u64(top)
        while table[p] != u64(0):
            p = (p + u64(1)) & mask
        table[p] = tag_of(h) | u64(x + 1)


@compiled
def number_of(words, x, states, table, top):
    """The number of the state in `words` at place x, or -1."""
    mask = u64(table.shape[0] - 1)
    h = hash_of(words, x)
    tag = tag_of(h)
    p = h >> u64(top)
    while table[p] != u64(0):
        if table[p] & ~LOW == tag:
            y = i64(table[p] & LOW) - 1
            if same(words, x, states, y):
                return y
        p = (p + u64(1)) & mask
    return -1


@compiled
def search(states, n, first, last, limit, table, top, K, found, steps, parents, hashes, seen, out):
    """Expand states first … last - 1 until `limit` states are stored.

    Returns in `out`: the next state to expand, the number of states, the successors generated, the step that left a
    declared range (or -1) and the state from which it did.
    """
    mask = u64(table.shape[0] - 1)
    room = steps.shape[0]
    generated = 0
    x = first
    out[3] = -1
    while x < last and n + room <= limit:
        m, x_next = expand(states, x, last, K, found, steps, parents, room)
        if m < 0:
            out[3] = -1 - m
            out[4] = x_next
            break
        x = x_next
        generated += m
        for j in range(m):
            hashes[j] = hash_of(found, j)
        for j in range(m):
            h = hashes[j]
            p = h >> u64(top)
            tag = tag_of(h)
            while True:
                slot = table[p]
                if slot == u64(0):
                    table[p] = tag | u64(n + 1)
                    for i in range(WORDS):
                        states[n * WORDS + i] = found[j * WORDS + i]
                    note(states, n, K, seen)
                    n += 1
                    break
                if slot & ~LOW == tag and same(found, j, states, i64(slot & LOW) - 1):
                    break
                p = (p + u64(1)) & mask
    out[0] = x
    out[1] = n
    out[2] = generated


@compiled
def note(states, x, K, seen):
    """Remember the first state that violates each clause, and the first that is each witness."""
    verdict = judge(states, x, K)
    if verdict != 0:
        for bit in range(seen.shape[0]):
            if verdict >> bit & 1 and seen[bit] < 0:
                seen[bit] = x


@compiled
def mark_verdict(states, first, last, K, bit, marks):
    """Mark the states first … last - 1 for which `judge` gives the bit."""
    for x in range(first, last):
        if judge(states, x, K) >> bit & 1:
            marks[x] = 1


@compiled
def mark_before(states, first, last, end, table, top, K, found, steps, parents, marks):
    """Mark the states first … last - 1 that have a marked successor among last … end - 1."""
    room = steps.shape[0]
    x = first
    while x < last:
        m, x = expand(states, x, last, K, found, steps, parents, room)
        for j in range(m):
            if marks[parents[j]] == 0:
                y = number_of(found, j, states, table, top)
                if last <= y < end and marks[y] == 1:
                    marks[parents[j]] = 1
