"""The hash table, whose slots hold what stands for a state: a part of every generated module, after `hashing.py`."""

BATCH = 256  # slots that are prefetched together


@inlined
def differs(words, at, others, there):
    """Zero or one, computed without a branch."""
    difference = i64(0)
    for i in range(WORDS):
        difference |= words[at + i] ^ others[there + i]
    return i64(difference != 0)


@inlined
def region_of(store, number):
    """The region of a state, by its number."""
    return number & ((1 << store.shift) - 1)


@inlined
def number_at(store, region, place):
    """The number of the state at a place of a region."""
    return (place << store.shift) | region


@inlined
def offset_of(store, number):
    """The index of the first word of a state."""
    return (region_of(store, number) * store.room + (number >> store.shift)) * WORDS


@compiled
def enter(store, region, first, last, hashes):
    """Insert the states at places first … last - 1 of a region, which are not in the table yet.

    `hashes` is room for a batch.
    """
    table = store.table
    slots = table.shape[0]
    for begin in range(first, last, BATCH):
        m = min(BATCH, last - begin)
        for j in range(m):
            offset = offset_of(store, number_at(store, region, begin + j))
            hashes[j] = key_of(store.states, offset, store.keep)
            prefetch(table, line_of(hashes[j], slots))
        for j in range(m):
            h = hashes[j]
            p = line_of(h, slots)
            slot = h
            if NUMBERED:
                slot = tag_of(h) | u64(number_at(store, region, begin + j) + 1)
            while swap_if_equal(table, p, u64(0), slot) != u64(0):
                p = after(p, slots)


@compiled
def number_of(words, at, store):
    """The number of the state in `words`, or -1; only where slots hold numbers."""
    table = store.table
    slots = table.shape[0]
    h = quick_hash_of(words, at)
    tag = tag_of(h)
    p = line_of(h, slots)
    while table[p] != u64(0):
        if table[p] & ~LOW == tag:
            number = i64(table[p] & LOW) - 1
            if differs(words, at, store.states, offset_of(store, number)) == 0:
                return number
        p = after(p, slots)
    return -1


@compiled
def rehash(table, first, last, low, high, aside):
    """Move the entries at first … last - 1 to their places in the whole table, those that have one in low … high - 1.

    Lines begin at low and high, and what is between is empty: how many of each have come is counted beside the table.
    The other entries are put into `aside`; returns how many. Nothing else may be done to these slots meanwhile.
    """
    slots = table.shape[0]
    lines = (high - low) // LINE
    taken = np.zeros(lines, dtype=np.uint8)
    batch = np.empty(BATCH, dtype=np.uint64)
    m = 0
    for begin in range(first, last, BATCH):
        n = 0
        for p in range(begin, min(begin + BATCH, last)):
            batch[n] = table[p]
            n += i64(batch[n] != u64(0))
            table[p] = 0
        for i in range(n):
            q = line_of(batch[i], slots)
            line = (q - low) // LINE if q >= low else lines
            while line < lines and taken[line] == LINE:
                line += 1
            if line < lines:
                table[low + line * LINE + taken[line]] = batch[i]
                taken[line] += 1
            else:
                aside[m] = batch[i]
                m += 1
    return m


@inlined
def insert_entry(entry, table):
    """Insert an entry that is not in the table; its slot."""
    slots = table.shape[0]
    p = line_of(entry, slots)
    while table[p] != u64(0):
        p = after(p, slots)
    table[p] = entry
    return p


@compiled
def insert_entries(entries, table):
    """Insert entries that are not in the table."""
    for i in range(entries.shape[0]):
        insert_entry(entries[i], table)


@compiled
def insert_marked(entries, marks, table, beside):
    """Insert entries that are not in the table, and the mark of each beside it."""
    for i in range(entries.shape[0]):
        beside[insert_entry(entries[i], table)] = marks[i]


@compiled
def keys(store, region, places, into):
    """The keys of the states at some places of a region."""
    for i in range(places.shape[0]):
        into[i] = key_of(store.states, offset_of(store, number_at(store, region, places[i])), store.keep)
