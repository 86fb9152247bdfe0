"""Whether a state and what forgetting makes of it go on alike: a part of every generated module."""

SENDS = 1  # a step that wants the place of a transaction
CHANGES_NOTHING = 2  # a step that may meet what was forgotten, and only spends a bound of the instance


@inlined
def length_of(words, at, queue):
    """How long a queue is; its row says in which word the length is, its shift, mask and low end, and the room."""
    return (words[at + queue[0]] >> queue[1] & queue[2]) + queue[3]


@inlined
def blank(words, count, queues, blanks):
    """Clear what states hold in empty places that nothing reads; `blanks` has the bits of each queue and length."""
    for x in range(count):
        for q in range(queues.shape[0]):
            length = length_of(words, x * WORDS, queues[q])
            for i in range(WORDS):
                words[x * WORDS + i] &= ~blanks[q, length, i]


@inlined
def judge_each(states, count, K, verdicts):
    """The verdict of each state, a row each."""
    verdicts[:count] = 0
    for x in range(count):
        judge(states, x, K, verdicts[x])


@inlined
def is_told_alike(verdict, other, before, clauses):
    """Whether a verdict has no violation that the other lacks, and all that are new in the other."""
    unlike = i64(0)
    for i in range(verdict.shape[0]):
        unlike |= (verdict[i] & ~other[i] | other[i] & ~before[i] & ~verdict[i]) & clauses[i]
    return unlike == 0


@inlined
def has_nothing_new(verdict, before, clauses):
    """Whether what is violated was before."""
    new = i64(0)
    for i in range(verdict.shape[0]):
        new |= verdict[i] & ~before[i] & clauses[i]
    return new == 0


@compiled
def unlike(plain, small, j, K, kinds, actions, clauses, queues, blanks, buffers, steps, parents, verdicts, before):
    """The step by which state j of `small` goes on otherwise than in `plain`; as many as there are if none does.

    A step of `plain` is -1 - its number. Up to numbering: of two steps with one action, whose results are the same when
    both have forgotten, one stands for the other.
    """
    most = actions.shape[0]
    n, _ = expand(plain, j, j + 1, K, buffers[0], steps[0], parents, most)
    m, _ = expand(small, j, j + 1, K, buffers[1], steps[1], parents, most)
    judge_each(buffers[0], n, K, verdicts[0])
    judge_each(buffers[1], m, K, verdicts[1])
    verdicts[0, most] = 0
    judge(plain, j, K, verdicts[0, most])
    forget(buffers[0], n, K, before)
    forget(buffers[1], m, K, before)
    for i in range(WORDS):
        buffers[1][m * WORDS + i] = small[j * WORDS + i]  # what was forgotten changes nothing: a step that stays
    blank(buffers[0], n, queues, blanks)
    blank(buffers[1], m + 1, queues, blanks)
    for k in range(m):
        steps[2][k] = 0
    for i in range(n):
        is_met = kinds[steps[0][i]] & CHANGES_NOTHING != 0
        for k in range(m + 1):
            if differs(buffers[0], i * WORDS, buffers[1], k * WORDS) == 0:
                if k == m:
                    is_met = is_met or has_nothing_new(verdicts[0, i], verdicts[0, most], clauses)
                elif actions[steps[0][i]] == actions[steps[1][k]] and is_told_alike(
                    verdicts[1, k], verdicts[0, i], verdicts[0, most], clauses
                ):
                    is_met = True
                    steps[2][k] = 1
        if not is_met:
            return -1 - steps[0][i]
    for k in range(m):
        if steps[2][k] == 0 and kinds[steps[1][k]] & SENDS == 0:
            return i64(steps[1][k])
    return i64(most)


@compiled
def compare(
    states, room, region, first, last, K, found, by, parents, before, plain, kinds, actions, clauses, queues, blanks,
    buffers, steps, verdicts, out,
):  # fmt: skip
    """Compare what forgetting changes behind the states at places first … last - 1 with what it was.

    Out, added up: successors that forgetting has changed, those of them that had a full queue and were not compared. At
    the first difference it ends, with the place of the state, the step, and what `unlike` says of its successor.
    """
    most = actions.shape[0]
    base = region * room
    for x in range(base + first, base + last):
        n, _ = expand(states, x, x + 1, K, found, by, parents, most)
        plain[: n * WORDS] = found[: n * WORDS]
        forget(found, n, K, before)
        for j in range(n):
            if differs(plain, j * WORDS, found, j * WORDS) != 0:
                out[0] += 1
                is_full = False
                for q in range(queues.shape[0]):
                    is_full = is_full or length_of(plain, j * WORDS, queues[q]) >= queues[q, 4]
                if is_full:
                    out[1] += 1
                    continue
                other = unlike(
                    plain,
                    found,
                    j,
                    K,
                    kinds,
                    actions,
                    clauses,
                    queues,
                    blanks,
                    buffers,
                    steps,
                    parents,
                    verdicts,
                    before,
                )
                if other != most:
                    out[2] = x - base
                    out[3] = by[j]
                    out[4] = other
                    return True
    return False
