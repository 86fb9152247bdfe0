"""Random walks over packed states: the last part of every generated module (see `kernel.py`).

A walk depends on its seed and number only. At each step one of the enabled steps is taken, each with the same chance.
"""

STRIDE = u64(0x9E3779B97F4A7C15)


@inlined
def scrambled(z):
    """The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


@compiled
def walk(initial, seed, first, count, length, tick, K, found, steps, parents, walks, times, places, taken, rows):
    """Walks number first … first + count - 1; returns the events written, or -1 - step when one left a declared range.

    `tick` tells for each step number by how much it moves the clock. Out: for each event the walk's number, the clock,
    its place in the walk, the step number and the observed fields.
    """
    n = 0
    here = np.empty(WORDS, dtype=np.int64)
    for number in range(first, first + count):
        state = scrambled(u64(seed) * STRIDE + u64(1)) ^ scrambled(u64(number) + STRIDE)
        here[:] = initial
        now = 0
        for place in range(length):
            m, _ = expand(here, 0, 1, K, found, steps, parents, steps.shape[0])
            if m < 0:
                return m
            if m == 0:
                break
            state += STRIDE
            j = i64(((scrambled(state) >> u64(32)) * u64(m)) >> u64(32))
            for i in range(WORDS):
                here[i] = found[j * WORDS + i]
            now += tick[steps[j]]
            walks[n] = number
            times[n] = now
            places[n] = place
            taken[n] = steps[j]
            observe(here, 0, steps[j], K, rows[n])
            n += 1
    return n
