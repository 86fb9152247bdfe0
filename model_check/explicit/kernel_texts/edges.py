"""All edges between stored states, by number, and the verdict on each state: a part of every generated module."""


@compiled
def edges(store, region, first, last, bases, K, buffers, ends, to, by):
    """The edges from the states at places first … last - 1 of a region, as far as there is room; how far, and how many.

    A state's index is its place behind the base of its region. Out: for each place from `first` on where its edges end,
    the index of each successor, and the step that leads there. Returns -1 - place where a step leaves a declared range.
    """
    successors, steps, parents = buffers.successors, buffers.steps, buffers.parents
    base = region * store.room
    x = first
    n = 0
    while x < last:
        m, reached = expand_and_forget(store.states, base + x, base + last, K, buffers)
        if m < 0:
            return -1 - (reached - base), n
        if n + m > to.shape[0]:
            break
        for place in range(x, reached - base):
            ends[place - first] = 0
        for j in range(m):
            ends[parents[j] - base - first] += 1
        total = n
        for place in range(x - first, reached - base - first):
            count = ends[place]
            ends[place] = total  # for now where they begin
            total += count
        for j in range(m):
            at = ends[parents[j] - base - first]
            number = number_of(successors, j * WORDS, store)
            to[at] = bases[region_of(store, number)] + (number >> store.shift) if number >= 0 else -1
            by[at] = steps[j]
            ends[parents[j] - base - first] = at + 1
        n = total
        x = reached - base
    return x, n


@compiled
def verdicts(store, region, first, last, K, verdict, into):
    """The words of `judge` for each of the states at places first … last - 1 of a region, one after the other."""
    words = verdict.shape[0]
    for place in range(first, last):
        verdict[:] = 0
        judge(store.states, region * store.room + place, K, verdict)
        for i in range(words):
            into[(place - first) * words + i] = verdict[i]
