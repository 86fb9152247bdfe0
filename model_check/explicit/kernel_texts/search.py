"""The search over packed states, for one thread and for several: a part of every generated module.

The generated part gives `WORDS`, `NUMBERED`, `WHOLE`, `RUN` and `CLAIMS_A_WORD`; `compile.py` lists the files that come
before this one.

The hash table is shared by all threads; a state is looked for from a line of eight slots on, which are compared
together. Where `NUMBERED`, a slot holds 32 bits of the hash and the state's number plus one; on equal bits the words
are compared. A state is written before its slot is claimed by compare-and-swap: whoever sees the slot sees the state.
Otherwise a slot holds a key of the state: the state itself, where it takes less than a word (`WHOLE`), or a fingerprint
of 64 bits.

Most successors are known. So a run of them goes through short loops without branches: hash them, drop those that were
seen lately, and prefetch the lines of the others; look at the lines, and prefetch the words of the states that they may
be; compare. Only the rest takes the loop that can store a state.
"""

PREFETCH_DISTANCE = 32  # states between the end of a region and the line that is prefetched to be written
JUDGE_BATCH = 8 * RUN  # states: the code that judges is so long that it drives other code out of the nearest cache
SPINS = 1000  # turns that a thread waits for the others before it lets another one have its processor
SWEPT_OUT_OF_RANGE = -2  # in place of a step that left a declared range
RECENT = (1 << 15) >> (WORDS - 1).bit_length()  # successors that a thread remembers: at most 256 KiB


# --- inserting --------------------------------------------------------------------------------------------------------


@inlined
def claim_slot(table, p, entry, shift):
    """Put an entry into a slot that was empty; zero, or what another thread has put there meanwhile."""
    if shift == 0:  # there is no other thread
        table[p] = entry
        return u64(0)
    return swap_if_equal(table, p, u64(0), entry)


@inlined
def write_state(successors, at, store, region, n):
    """Write the words of a successor to place n of a region."""
    for i in range(WORDS):
        store.states[(region * store.room + n) * WORDS + i] = successors[at + i]


@inlined
def insert_words(successors, at, h, p, store, region, n):
    """Store a successor at place n of a region, unless the table has it from slot p on; whether it is new."""
    table = store.table
    slots = table.shape[0]
    tag = tag_of(h)
    written = False
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            if not written:
                write_state(successors, at, store, region, n)
                written = True
            slot = claim_slot(table, p, tag | u64(number_at(store, region, n) + 1), store.shift)
            if slot == u64(0):
                return True
        if slot & ~LOW == tag and differs(successors, at, store.states, offset_of(store, i64(slot & LOW) - 1)) == 0:
            return False
        p = after(p, slots)


@inlined
def insert_key(successors, at, key, p, store, region, n):
    """`insert_words` where the slot holds the key of the state."""
    table = store.table
    slots = table.shape[0]
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            slot = claim_slot(table, p, key, store.shift)
            if slot == u64(0):
                write_state(successors, at, store, region, n)
                return True
        if slot == key:
            return False
        p = after(p, slots)


# --- filtering --------------------------------------------------------------------------------------------------------


@inlined
def drop_recent(m, store, buffers):
    """Drop successors that are among the last ones seen, which are stored; how many are left, hashed and prefetched."""
    successors, recent, hashes, table = buffers.successors, buffers.recent, buffers.hashes, store.table
    slots = table.shape[0]
    n = 0
    for j in range(m):
        h = key_of(successors, j * WORDS, store.keep)
        place = i64((h >> u64(32)) & u64(RECENT - 1)) * WORDS
        is_new = differs(successors, j * WORDS, recent, place)
        for i in range(WORDS):
            word = successors[j * WORDS + i]
            recent[place + i] = word
            successors[n * WORDS + i] = word
        hashes[n] = h
        prefetch(table, line_of(h, slots))
        n += is_new
    return n


@inlined
def first_empty(look, line, slots):
    """The first slot of a line that was empty, or the beginning of the next line if none was."""
    p = line + lowest_bit((look >> LINE) | (1 << LINE))
    return p if p < slots else 0


@inlined
def drop_known(m, store, buffers):
    """Hash some successors, and drop those that the table knows at a look; how many there are that may be new.

    Out: the successors and hashes that are left of all, in `steps` the indices of those that may be new, and the slot
    from which on the table may have them; it may be in the next line. `parents` is room.
    """
    successors, hashes, table = buffers.successors, buffers.hashes, store.table
    offsets, indices, slot_of = buffers.parents, buffers.steps, buffers.slots
    slots = table.shape[0]
    m = drop_recent(m, store, buffers)
    n = 0
    if NUMBERED:
        for j in range(m):
            line = line_of(hashes[j], slots)
            look = look_at_line(table, line, tag_of(hashes[j]), ~LOW)
            lanes = look & ((1 << LINE) - 1)
            lane = lowest_bit(lanes | (1 << LINE)) & (LINE - 1)
            number = i64(load_shared(table, line + lane) & LOW) - 1
            offset = offset_of(store, number if lanes != 0 else 0)  # state 0 is always there, and can be compared
            offsets[j] = offset
            slot_of[j] = line if lanes != 0 else first_empty(look, line, slots)
            prefetch(table, slot_of[j])
            prefetch(store.states, offset)
            if LINE % WORDS != 0:  # they may lie in two lines of the cache
                prefetch(store.states, offset + WORDS - 1)
        for j in range(m):
            indices[n] = j
            n += differs(successors, j * WORDS, store.states, offsets[j])
    else:
        for j in range(m):
            line = line_of(hashes[j], slots)
            look = look_at_line(table, line, hashes[j], ~u64(0))
            indices[n] = j
            slot_of[j] = first_empty(look, line, slots)
            prefetch(table, slot_of[j])
            n += i64(look & ((1 << LINE) - 1) == 0)
    return n


# --- a level ----------------------------------------------------------------------------------------------------------


@inlined
def level_size(shared):
    """The states of the current level."""
    size = 0
    for r in range(shared.starts.shape[0]):
        size += shared.ends[r] - shared.starts[r]
    return size


@inlined
def chunk_size(rest, most, left, threads):
    """Parents to claim of the rest of a level, in whole runs: less and less, or at its end the others would wait long.

    At least a run, or 0 where there is not room for so many.
    """
    return min(most, max(min(rest // threads, left), RUN)) // RUN * RUN


@inlined
def judge_batches(before, waiting, K, seen):
    """Judge whole batches of the states that wait; how many still do, at the beginning of `before`."""
    judged = waiting // JUDGE_BATCH * JUDGE_BATCH
    judge_run(before, 0, judged, K, seen)
    for i in range((waiting - judged) * WORDS if judged > 0 else 0):
        before[i] = before[judged * WORDS + i]
    return waiting - judged


@inlined
def expand_level(store, region, limit, left, shared, chunk, threads, K, buffers, seen):
    """Expand chunks of a level, at most `left` parents, as long as there are any and room for their successors.

    The arguments are those of `search`. A step or a sweep that leaves a declared range ends it.
    """
    starts, ends, out = shared.starts, shared.ends, shared.outs[region]
    successors, steps, parents, before = buffers.successors, buffers.steps, buffers.parents, buffers.before
    n = judged = out[STATES]
    generated = waiting = 0
    total = level_size(shared)
    own = region * store.room
    while left > 0:
        rest = total - load_shared(shared.claimed, 0)
        size = chunk_size(rest, min(chunk, (limit - n) // K[STEPS]), left, threads)
        at = fetch_and_add(shared.claimed, 0, size) if size > 0 else total
        if at >= total:
            break
        left -= size
        stop = min(at + size, total)
        offset = 0
        for r in range(starts.shape[0]):
            x = starts[r] + max(at - offset, 0)
            last = starts[r] + min(stop - offset, ends[r] - starts[r])
            offset += ends[r] - starts[r]
            base = r * store.room
            while x < last:
                m, reached = expand(store.states, base + x, base + last, K, successors, steps, parents, steps.shape[0])
                if m < 0:
                    out[BAD_STEP] = -1 - m
                    out[BAD_STATE] = number_at(store, r, reached - base)
                    out[STATES] = n
                    out[GENERATED] += generated
                    return
                x = reached - base
                generated += m
                if FORGETS:
                    swept = sweep(successors, m, K, before[waiting * WORDS :])
                    if swept < 0:
                        out[BAD_STEP] = SWEPT_OUT_OF_RANGE
                        return
                    waiting = judge_batches(before, waiting + swept, K, seen)
                for i in range(drop_known(m, store, buffers)):
                    j = i64(steps[i])
                    h, p = buffers.hashes[j], buffers.slots[j]
                    prefetch_to_write(store.states, (own + n + PREFETCH_DISTANCE) * WORDS)
                    if NUMBERED:
                        n += insert_words(successors, j * WORDS, h, p, store, region, n)
                    else:
                        n += insert_key(successors, j * WORDS, h, p, store, region, n)
                full = judged + (n - judged) // JUDGE_BATCH * JUDGE_BATCH
                judge_run(store.states, own + judged, own + full, K, seen)
                judged = full
    judge_run(before, 0, waiting, K, seen)
    judge_run(store.states, own + judged, own + n, K, seen)
    out[STATES] = n
    out[GENERATED] += generated


@inlined
def next_level(shared, enough, threads):
    """Let the next level be the current one, if all of that is expanded; whether it shall be expanded, too."""
    starts, ends, bounds, barrier, outs = shared.starts, shared.ends, shared.bounds, shared.barrier, shared.outs
    size = level_size(shared)
    is_enough = False
    for r in range(threads):
        is_enough |= outs[r, STOPS] != 0
        if outs[r, BAD_STEP] != -1:
            return False
    if bounds.shape[0] == 0 or shared.claimed[0] < size:
        return False
    barrier[LEFT] -= size
    states = 0
    for r in range(starts.shape[0]):
        starts[r] = ends[r]
        if r < threads:
            ends[r] = outs[r, STATES]
        bounds[barrier[FINISHED], r] = ends[r]
        states += ends[r]
    shared.claimed[0] = 0
    barrier[FINISHED] += 1
    is_over = level_size(shared) == 0 or barrier[FINISHED] == bounds.shape[0] or barrier[LEFT] <= 0
    return not is_over and states < enough and not is_enough


@inlined
def arrive(barrier, threads):
    """Wait for all threads; whether this one came last, and the others wait until it calls `release`."""
    phase = load_shared(barrier, PHASE)
    if fetch_and_add(barrier, ARRIVED, 1) + 1 == threads:
        return True
    turns = 0
    while load_shared(barrier, PHASE) == phase:
        turns += 1
        if turns > SPINS:
            give_way()
    return False


@inlined
def release(barrier, goes_on):
    """Let the threads that wait see whether the search goes on."""
    barrier[ARRIVED] = 0
    barrier[GOES_ON] = i64(goes_on)
    fetch_and_add(barrier, PHASE, 1)


@compiled
def search(store, region, limit, shared, chunk, enough, threads, K, buffers, seen):
    """Expand the current level and the following ones, as long as there is room for the successors of `RUN` parents.

    All threads call this with the same arrays, and thread r stores the states that it finds in region r, up to `limit`
    in all, and the bits of their verdicts in `seen`. The level is the places starts[r] … ends[r] - 1 of each region r,
    one after the other; a thread claims at most `chunk` parents at a time.

    The threads meet at the end of a level, and the last one that comes makes the next level the current one. `bounds`
    has a row for the ends of each level that they may finish. They come back behind a level in which something was seen
    for the first time, behind which no state follows, or with which there are `enough` states in all; and when somebody
    finds no room. Then `claimed` says how much of the current level is expanded; without `bounds` it is never another
    one.

    Out, in outs[region]: the states in this region, the successors generated, the step that left a declared range
    (or -1; `SWEPT_OUT_OF_RANGE` where a swept successor did), the number of the state from which it did, and whether
    this thread wants the search to come back.
    """
    out, barrier = shared.outs[region], shared.barrier
    out[GENERATED], out[BAD_STEP] = 0, -1
    seen_before = seen.copy()
    while True:
        left = (barrier[LEFT] + threads - 1) // threads
        expand_level(store, region, limit, left, shared, chunk, threads, K, buffers, seen)
        out[STOPS] = i64(out[STATES] + RUN * K[STEPS] > limit)
        for i in range(seen.shape[0]):
            out[STOPS] |= seen[i] ^ seen_before[i]
        if arrive(barrier, threads):
            release(barrier, next_level(shared, enough, threads))
        if barrier[GOES_ON] == 0:
            return
