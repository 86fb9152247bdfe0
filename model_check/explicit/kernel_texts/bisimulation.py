"""A check that a state and its remainder after forgetting are bisimilar: a part of every generated module."""

SENDS = 1  # a step that wants the place of a transaction
CHANGES_NOTHING = 2  # a step that may meet what was forgotten, and only spends a bound of the instance


@inlined
def queue_length(words, at, queue):
    """The length of a queue; the row of the queue is as in `Likeness`."""
    return (words[at + queue[0]] >> queue[1] & queue[2]) + queue[3]


@inlined
def has_full_queue(words, at, queues):
    """Whether some queue of a state is as long as it may be."""
    is_full = False
    for q in range(queues.shape[0]):
        is_full = is_full or queue_length(words, at, queues[q]) >= queues[q, 4]
    return is_full


@inlined
def clear_blanks(words, count, queues, blanks):
    """Clear the empty places of queues, which nothing reads, in some states."""
    for x in range(count):
        for q in range(queues.shape[0]):
            length = queue_length(words, x * WORDS, queues[q])
            for i in range(WORDS):
                words[x * WORDS + i] &= ~blanks[q, length, i]


@inlined
def is_judged_alike(verdict, other, before, clauses):
    """Whether a verdict has no violation that the other lacks, and all that are new in the other."""
    unlike = i64(0)
    for i in range(verdict.shape[0]):
        unlike |= (verdict[i] & ~other[i] | other[i] & ~before[i] & ~verdict[i]) & clauses[i]
    return unlike == 0


@inlined
def has_no_new_violation(verdict, before, clauses):
    """Whether all violated clauses were violated before."""
    new = i64(0)
    for i in range(verdict.shape[0]):
        new |= verdict[i] & ~before[i] & clauses[i]
    return new == 0


@compiled
def unlike_step(plain, small, j, K, likeness, pair, parents, before):
    """A step by which state j of `small` goes on otherwise than in `plain`; as many as there are if there is none.

    A step of `plain` is -1 - its number. Up to numbering: of two steps with one action, whose results are the same when
    both have forgotten, one stands for the other.
    """
    actions, kinds, clauses = likeness.actions, likeness.kinds, likeness.clauses
    successors, steps, verdicts = pair
    most = actions.shape[0]
    n, _ = expand(plain, j, j + 1, K, successors[0], steps[0], parents, most)
    m, _ = expand(small, j, j + 1, K, successors[1], steps[1], parents, most)
    judge_each(successors[0], n, K, verdicts[0])
    judge_each(successors[1], m, K, verdicts[1])
    verdicts[0, most] = 0
    judge(plain, j, K, verdicts[0, most])
    forget(successors[0], n, K, before)
    forget(successors[1], m, K, before)
    for i in range(WORDS):
        successors[1][m * WORDS + i] = small[j * WORDS + i]  # a step that changes only forgotten fields stays here
    clear_blanks(successors[0], n, likeness.queues, likeness.blanks)
    clear_blanks(successors[1], m + 1, likeness.queues, likeness.blanks)
    for k in range(m):
        steps[2][k] = 0
    for i in range(n):
        is_met = kinds[steps[0][i]] & CHANGES_NOTHING != 0
        for k in range(m + 1):
            if differs(successors[0], i * WORDS, successors[1], k * WORDS) == 0:
                if k == m:
                    is_met = is_met or has_no_new_violation(verdicts[0, i], verdicts[0, most], clauses)
                elif actions[steps[0][i]] == actions[steps[1][k]] and is_judged_alike(
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
def compare(store, first, last, K, buffers, plain, likeness, pair, out):
    """Compare the successors of states first … last - 1, stored in one region, with their remainders.

    Out, added up: successors that forgetting has changed, those of them that had a full queue and were not compared. At
    the first difference it ends, with the place of the state, the step, and the `unlike_step` of its successor.
    """
    successors, steps, parents, before = buffers.successors, buffers.steps, buffers.parents, buffers.before
    most = likeness.actions.shape[0]
    for x in range(first, last):
        n, _ = expand(store.states, x, x + 1, K, successors, steps, parents, most)
        plain[: n * WORDS] = successors[: n * WORDS]
        forget(successors, n, K, before)
        for j in range(n):
            if differs(plain, j * WORDS, successors, j * WORDS) != 0:
                out[CHANGED] += 1
                if has_full_queue(plain, j * WORDS, likeness.queues):
                    out[FULL] += 1
                    continue
                other = unlike_step(plain, successors, j, K, likeness, pair, parents, before)
                if other != most:
                    out[PLACE] = x
                    out[STEP] = steps[j]
                    out[OTHER] = other
                    return True
    return False
