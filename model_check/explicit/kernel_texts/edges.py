"""All successors of the states found, by number, and what is true of each state: a part of every generated module."""


@compiled
def edges(states, room, regions, region, first, last, bases, table, K, found, steps, parents, before, ends, to, by):
    """The edges from the states at places first … last - 1 of a region, as far as there is room; how far, and how many.

    A state's index is its place behind the base of its region. Out: for each place from `first` on where its edges end,
    the index of each successor, and the step that leads there. Returns -1 - place where a step leaves a declared range.
    """
    most = steps.shape[0]
    base = region * room
    x = first
    n = 0
    while x < last:
        m, reached = expand_and_forget(states, base + x, base + last, K, found, steps, parents, before, most)
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
            number = number_of(found, j * WORDS, states, room, regions, table)
            to[at] = bases[number & ((1 << regions) - 1)] + (number >> regions) if number >= 0 else -1
            by[at] = steps[j]
            ends[parents[j] - base - first] = at + 1
        n = total
        x = reached - base
    return x, n


@compiled
def verdicts(states, room, region, first, last, K, verdict, into):
    """The words of `judge` for each of the states at places first … last - 1 of a region, one after the other."""
    words = verdict.shape[0]
    for place in range(first, last):
        verdict[:] = 0
        judge(states, region * room + place, K, verdict)
        for i in range(words):
            into[(place - first) * words + i] = verdict[i]
