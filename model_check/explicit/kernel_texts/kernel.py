"""The search over packed states, for one thread and for several: a part of every generated module.

The generated part gives `WORDS`, `NUMBERED`, `WHOLE`, `RUN` and `CLAIMS_A_WORD`; `compile.py` says which files come
before this one. Nothing imports them; their texts are joined, so that one file holds all that the kernels depend on.

Each thread stores the states that it finds in a region of its own, `WORDS` words a state. A state's number is its place
in the region times the number of regions, plus the region. The hash table is shared by all; a state is looked for from
a line of eight slots on, which are compared together. Where `NUMBERED`, a slot holds 32 bits of the hash and the
state's number plus one; on equal bits the words are compared. A state is written before its slot is taken by
compare-and-swap: whoever sees the slot sees the state. Otherwise a slot holds what stands for the state: the state
itself, where it takes less than a word (`WHOLE`), or a fingerprint of 64 bits.

Most successors are known. So a run of them goes through short loops without branches: hash them, drop those that were
seen lately, and ask for the lines of the others; look at the lines, and ask for the words of the states that they may
be; compare. Only what is left over takes the loop that can store it.
"""

AHEAD_OF_STORES = 32  # states ahead of which the line is asked for that will be written
JUDGED_AT_ONCE = 8 * RUN  # states: what judges is so much code that it drives other code out of the nearest cache
PHASE, ARRIVED, GOES_ON, LEFT, FINISHED = range(5)  # of `meeting`
PATIENCE = 1000  # turns that a thread waits for the others before it lets somebody else have its processor
SWEPT_OUT_OF_RANGE = -2
RECENT = (1 << 15) >> (WORDS - 1).bit_length()  # successors that a thread remembers: at most 256 KiB


@inlined
def take(table, p, entry, regions):
    """Take a slot that was empty; zero, or what another thread has put there meanwhile."""
    if regions == 0:  # there is no other thread
        table[p] = entry
        return u64(0)
    return swap_if_equal(table, p, u64(0), entry)


@inlined
def stored_exactly(found, at, h, p, states, room, regions, region, n, table):
    """Store the state in `found` as number n of a region, unless the table knows it from slot p on; whether it did."""
    slots = table.shape[0]
    tag = tag_of(h)
    written = False
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            if not written:
                for i in range(WORDS):
                    states[(region * room + n) * WORDS + i] = found[at + i]
                written = True
            slot = take(table, p, tag | u64(((n << regions) | region) + 1), regions)
            if slot == u64(0):
                return True
        if slot & ~LOW == tag and differs(found, at, states, home_of(i64(slot & LOW) - 1, regions, room)) == 0:
            return False
        p = after(p, slots)


@inlined
def stored_by_key(found, at, key, p, states, room, regions, region, n, table):
    """The same where the slot holds what stands for the state."""
    slots = table.shape[0]
    while True:
        slot = load_shared(table, p)
        if slot == u64(0):
            slot = take(table, p, key, regions)
            if slot == u64(0):
                for i in range(WORDS):
                    states[(region * room + n) * WORDS + i] = found[at + i]
                return True
        if slot == key:
            return False
        p = after(p, slots)


@inlined
def not_seen_lately(found, m, table, keep, hashes, recent):
    """Drop successors that are among the last ones seen, which are stored; how many are left, hashed and asked for."""
    slots = table.shape[0]
    kept = 0
    for j in range(m):
        h = key_of(found, j * WORDS, keep)
        place = i64((h >> u64(32)) & u64(RECENT - 1)) * WORDS
        is_new = differs(found, j * WORDS, recent, place)
        for i in range(WORDS):
            word = found[j * WORDS + i]
            recent[place + i] = word
            found[kept * WORDS + i] = word
        hashes[kept] = h
        prefetch(table, place_of(h, slots))
        kept += is_new
    return kept


@inlined
def judge_waiting(before, waiting, K, seen):
    """Judge what waits if it is enough; how much still does, at the beginning of `before`."""
    judged = waiting // JUDGED_AT_ONCE * JUDGED_AT_ONCE
    judge_run(before, 0, judged, K, seen)
    for i in range((waiting - judged) * WORDS if judged > 0 else 0):
        before[i] = before[judged * WORDS + i]
    return waiting - judged


@inlined
def first_free(look, place, slots):
    """The first slot of a line that was empty, where the next line begins if none was."""
    p = place + lowest_bit((look >> LINE) | (1 << LINE))
    return p if p < slots else 0


@inlined
def left_over(found, m, states, room, regions, table, keep, hashes, homes, places, slot_of, recent):
    """Hash some successors, and find those that may be new; how many there are.

    Out: the successors and hashes that are left of all, the places of these, and the slot from which on the table may
    know them; it may be in the next line.
    """
    slots = table.shape[0]
    m = not_seen_lately(found, m, table, keep, hashes, recent)
    rest = 0
    if NUMBERED:
        for j in range(m):
            place = place_of(hashes[j], slots)
            look = look_at_line(table, place, tag_of(hashes[j]), ~LOW)
            lanes = look & ((1 << LINE) - 1)
            lane = lowest_bit(lanes | (1 << LINE)) & (LINE - 1)
            number = i64(load_shared(table, place + lane) & LOW) - 1
            home = home_of(number if lanes != 0 else 0, regions, room)  # state 0 is always there, and can be compared
            homes[j] = home
            slot_of[j] = place if lanes != 0 else first_free(look, place, slots)
            prefetch(table, slot_of[j])
            prefetch(states, home)
            if LINE % WORDS != 0:  # they may lie in two lines of the cache
                prefetch(states, home + WORDS - 1)
        for j in range(m):
            places[rest] = j
            rest += differs(found, j * WORDS, states, homes[j])
    else:
        for j in range(m):
            place = place_of(hashes[j], slots)
            look = look_at_line(table, place, hashes[j], ~u64(0))
            places[rest] = j
            slot_of[j] = first_free(look, place, slots)
            prefetch(table, slot_of[j])
            rest += i64(look & ((1 << LINE) - 1) == 0)
    return rest


@inlined
def size_of(starts, ends):
    """The states of a level."""
    size = 0
    for r in range(starts.shape[0]):
        size += ends[r] - starts[r]
    return size


@inlined
def parents_to_take(claimed, total, chunk, room, left, threads):
    """A share of what is left of a level, in whole runs: less and less, or at its end the others would wait long.

    At least a run, or 0 where there is not room for so many.
    """
    share = (total - load_shared(claimed, 0)) // threads
    return min(chunk, room, max(min(share, left), RUN)) // RUN * RUN


@inlined
def expand_level(
    place, region, count, limit, starts, ends, claimed, chunk, left, threads, table, keep, K, buffers, seen, out
):  # fmt: skip
    """Expand chunks of a level, at most `left` parents, as long as there are any and room for their successors.

    The arguments are those of `search`. A step or a sweep that leaves a declared range ends it; `out` says so.
    """
    states, room, regions = place
    found, steps, parents, hashes, slot_of, recent, before = buffers
    most = steps.shape[0]
    n = judged = count
    generated = waiting = 0
    total = size_of(starts, ends)
    while left > 0:
        some = parents_to_take(claimed, total, chunk, (limit - n) // steps_of(K), left, threads)
        at = fetch_and_add(claimed, 0, some) if some > 0 else total
        if at >= total:
            break
        left -= some
        stop = min(at + some, total)
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
                    out[1] += generated
                    return
                x = reached - base
                generated += m
                if FORGETS:
                    swept = sweep(found, m, K, before[waiting * WORDS :])
                    if swept < 0:
                        out[2] = SWEPT_OUT_OF_RANGE
                        return
                    waiting = judge_waiting(before, waiting + swept, K, seen)
                rest = left_over(found, m, states, room, regions, table, keep, hashes, parents, steps, slot_of, recent)
                for i in range(rest):
                    j = i64(steps[i])
                    h, p = hashes[j], slot_of[j]
                    prefetch_to_write(states, (region * room + n + AHEAD_OF_STORES) * WORDS)
                    if NUMBERED:
                        n += stored_exactly(found, j * WORDS, h, p, states, room, regions, region, n, table)
                    else:
                        n += stored_by_key(found, j * WORDS, h, p, states, room, regions, region, n, table)
                full = judged + (n - judged) // JUDGED_AT_ONCE * JUDGED_AT_ONCE
                judge_run(states, region * room + judged, region * room + full, K, seen)
                judged = full
    judge_run(before, 0, waiting, K, seen)
    judge_run(states, region * room + judged, region * room + n, K, seen)
    out[0] = n
    out[1] += generated


@inlined
def next_level(starts, ends, claimed, bounds, left, finished, enough, threads, outs):
    """Let the next level be the current one, if all of that is expanded; whether the next one shall be, too."""
    size = size_of(starts, ends)
    is_enough = False
    for r in range(threads):
        is_enough |= outs[r, 4] != 0
        if outs[r, 2] != -1:
            return False
    if bounds.shape[0] == 0 or claimed[0] < size:
        return False
    left[0] -= size
    states = 0
    for r in range(starts.shape[0]):
        starts[r] = ends[r]
        if r < threads:
            ends[r] = outs[r, 0]
        bounds[finished[0], r] = ends[r]
        states += ends[r]
    claimed[0] = 0
    finished[0] += 1
    size = size_of(starts, ends)
    return size > 0 and finished[0] < bounds.shape[0] and left[0] > 0 and states < enough and not is_enough


@inlined
def meet(meeting, threads):
    """Wait for all threads; whether this one came last, and the others wait until it calls `go_on`."""
    phase = load_shared(meeting, PHASE)
    if fetch_and_add(meeting, ARRIVED, 1) + 1 == threads:
        return True
    turns = 0
    while load_shared(meeting, PHASE) == phase:
        turns += 1
        if turns > PATIENCE:
            give_way()
    return False


@inlined
def go_on(meeting, shall):
    """Say whether the search goes on, and let those that wait see it."""
    meeting[ARRIVED] = 0
    meeting[GOES_ON] = i64(shall)
    fetch_and_add(meeting, PHASE, 1)


@compiled
def search(
    place, region, limit, starts, ends, claimed, chunk, bounds, enough, meeting, threads, table, keep, K, buffers,
    seen, outs,
):  # fmt: skip
    """Expand the current level and those behind it, as long as there is room for the successors of `RUN` parents.

    The level is the places starts[r] … ends[r] - 1 of each region r, one after the other; `claimed` counts what some
    thread has taken. All threads call this with the same arrays, and thread r stores what it finds in region r, up to
    `limit` states. `keep` is as in `key_of`, `place` and `buffers` as in `state_store/store.py`.

    The threads meet at the end of a level, and the last one that comes makes the next level the current one. `bounds`
    has a row for the ends of each level that they may finish, and `meeting` says how many parents they may expand, and
    then how many levels they have finished. They come back behind a level in which something was seen for the first
    time, behind which no state follows, or with which there are `enough` states in all; and when somebody finds no
    room. Then `claimed` says how much of the current level is expanded; without `bounds` it is never another one.

    Out, in outs[region]: the states in this region, the successors generated, the step that left a declared range
    (or -1; `SWEPT_OUT_OF_RANGE` where what was left of a successor did), the number of the state from which it did.
    """
    out = outs[region]
    out[1], out[2] = 0, -1
    seen_before = seen.copy()
    while True:
        left, count = (meeting[LEFT] + threads - 1) // threads, out[0]
        expand_level(
            place, region, count, limit, starts, ends, claimed, chunk, left, threads, table, keep, K, buffers, seen, out
        )
        out[4] = i64(out[0] + RUN * steps_of(K) > limit)
        for i in range(seen.shape[0]):
            out[4] |= seen[i] ^ seen_before[i]
        if meet(meeting, threads):
            shall = next_level(starts, ends, claimed, bounds, meeting[LEFT:], meeting[FINISHED:], enough, threads, outs)
            go_on(meeting, shall)
        if meeting[GOES_ON] == 0:
            return
