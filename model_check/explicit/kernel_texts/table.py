"""The hash table, and what stands in it for a state: a part of every generated module, behind `hashing.py`.

How states and slots are laid out is said in `kernel.py`.
"""

AHEAD = 256  # states of which the slots are asked for at once


@inlined
def differs(words, at, others, there):
    """Zero or one, found without a branch."""
    difference = i64(0)
    for i in range(WORDS):
        difference |= words[at + i] ^ others[there + i]
    return i64(difference != 0)


@inlined
def home_of(number, regions, room):
    """Where the words of a state begin; `regions` is the logarithm of their number, `room` what one can hold."""
    return ((number & ((1 << regions) - 1)) * room + (number >> regions)) * WORDS


@compiled
def enter(states, room, regions, region, first, last, table, keep, hashes):
    """Put the states at places first … last - 1 of a region, which are not in the table yet, into it.

    `keep` is as in `key_of`; `hashes` is room for what is ahead.
    """
    slots = table.shape[0]
    for some in range(first, last, AHEAD):
        m = min(AHEAD, last - some)
        for j in range(m):
            hashes[j] = key_of(states, home_of(((some + j) << regions) | region, regions, room), keep)
            prefetch(table, place_of(hashes[j], slots))
        for j in range(m):
            h = hashes[j]
            p = place_of(h, slots)
            slot = h
            if NUMBERED:
                slot = tag_of(h) | u64((((some + j) << regions) | region) + 1)
            while swap_if_equal(table, p, u64(0), slot) != u64(0):
                p = after(p, slots)


@compiled
def number_of(words, at, states, room, regions, table):
    """The number of the state in `words`, or -1; only where slots hold numbers."""
    slots = table.shape[0]
    h = quick_hash_of(words, at)
    tag = tag_of(h)
    p = place_of(h, slots)
    while table[p] != u64(0):
        if table[p] & ~LOW == tag:
            number = i64(table[p] & LOW) - 1
            if differs(words, at, states, home_of(number, regions, room)) == 0:
                return number
        p = after(p, slots)
    return -1


@compiled
def spread(table, first, last, low, high, aside):
    """Move the entries at first … last - 1 to their places in the whole table, those that have one in low … high - 1.

    Lines begin at low and high, and what is between is empty: how many of each have come is counted beside the table.
    The other entries are put into `aside`; returns how many. Nothing else may be done to these slots meanwhile.
    """
    slots = table.shape[0]
    lines = (high - low) // LINE
    taken = np.zeros(lines, dtype=np.uint8)
    held = np.empty(AHEAD, dtype=np.uint64)
    m = 0
    for some in range(first, last, AHEAD):
        n = 0
        for p in range(some, min(some + AHEAD, last)):
            held[n] = table[p]
            n += i64(held[n] != u64(0))
            table[p] = 0
        for i in range(n):
            q = place_of(held[i], slots)
            line = (q - low) // LINE if q >= low else lines
            while line < lines and taken[line] == LINE:
                line += 1
            if line < lines:
                table[low + line * LINE + taken[line]] = held[i]
                taken[line] += 1
            else:
                aside[m] = held[i]
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
    """Enter keys that are not in the table."""
    for i in range(some.shape[0]):
        put(some[i], table)


@compiled
def keys(states, room, regions, region, places, keep, into):
    """What stands in the table for the states at some places of a region."""
    for i in range(places.shape[0]):
        into[i] = key_of(states, home_of((places[i] << regions) | region, regions, room), keep)


@compiled
def put_marked(some, marks, table, beside):
    """Enter keys that are not in the table, and what each is marked with beside it."""
    slots = table.shape[0]
    for i in range(some.shape[0]):
        p = place_of(some[i], slots)
        while table[p] != u64(0):
            p = after(p, slots)
        table[p] = some[i]
        beside[p] = marks[i]
