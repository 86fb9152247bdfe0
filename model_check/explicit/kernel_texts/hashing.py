"""The hashes of a packed state, and their use as keys, tags and places: a part of every generated module.

`hash_of` is the upper half of a + Σ b[i]·word[i] modulo 2^128, with fixed random 128-bit numbers a and b[i]. Over the
choice of these numbers any two different states have the same hash with probability 2^-64, whatever they have in common
(multilinear hashing: D. Lemire and O. Kaser, "Strongly universal string hashing is fast", The Computer Journal 57(11),
2014). What follows is one to one, so that it changes nothing of this; it keeps states that differ little apart in the
table. Whatever takes a hash for the state uses it.

Where words are compared, a hash only has to be quick: `quick_hash_of` multiplies two words at a time and folds the
product. Where the slot holds the whole state, `whole` is one to one, and there is nothing to compare.
"""

LOW = u64(0xFFFFFFFF)
LINE = 8  # words in a line of the cache
MIX = u64(0xD6E8FEB86659FD93)
MIX_AGAIN = u64(0x94D049BB133111EB)
BEYOND = u64(1 << 63)  # a bit that no state has where `WHOLE`


def random_numbers(count):
    """SplitMix64 from a fixed seed (G. Steele, D. Lea and C. Flood, OOPSLA 2014)."""
    state, most = 0x243F6A8885A308D3, (1 << 64) - 1
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & most
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & most
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & most
        numbers.append(z ^ (z >> 31))
    return np.array(numbers, dtype=np.uint64)


NUMBERS = random_numbers(2 + 2 * WORDS)  # a, then each b[i]: the lower half, then the upper


@inlined
def hash_of(words, at):
    low = NUMBERS[0]
    high = NUMBERS[1]
    for i in range(WORDS):
        word = u64(words[at + i])
        product = NUMBERS[2 + 2 * i] * word
        low += product
        high += multiply_high(NUMBERS[2 + 2 * i], word) + NUMBERS[3 + 2 * i] * word + u64(low < product)
    high = (high ^ (high >> u64(32))) * MIX
    return high ^ (high >> u64(29))


@inlined
def quick_hash_of(words, at):
    """A hash for the table where words are compared; its tag is not zero, so that no empty slot has it."""
    h = NUMBERS[0]
    for i in range(0, WORDS - 1, 2):
        h ^= folded(u64(words[at + i]) ^ NUMBERS[2 + i], u64(words[at + i + 1]) ^ NUMBERS[3 + i])
    if WORDS % 2 == 1:
        h ^= folded(u64(words[at + WORDS - 1]) ^ NUMBERS[1], NUMBERS[1 + WORDS])
    return max(folded(h, MIX), LOW + u64(1))


@inlined
def whole(word):
    """A state of one word as the slot holds it: one to one, and never zero, which is an empty slot."""
    z = (u64(word) ^ BEYOND) * MIX
    return (z ^ (z >> u64(32))) * MIX_AGAIN


@inlined
def fingerprint_of(h, keep):
    """The bits of the hash that `keep` has; never zero, which is an empty slot."""
    return max(h & keep, u64(1))


@inlined
def key_of(words, at, keep):
    """The key of a state in the table: its fingerprint, its one word, or the hash of which the slot has the tag.

    `keep` has the bits of the hash that are the fingerprint.
    """
    if NUMBERED:
        return quick_hash_of(words, at)
    if WHOLE:
        return whole(words[at])
    return fingerprint_of(hash_of(words, at), keep)


@inlined
def tag_of(h):
    """The bits of the hash that a slot holds in the exact mode; they decide the line, so that a table can be rehashed.

    Of n states, n/2^32 others have the same on average: so seldom are the words of two different states compared.
    """
    return h & ~LOW


@inlined
def line_of(h, slots):
    """The line of slots where a hash, or its tag, is looked for first: in the order of the hashes."""
    return i64(((h >> u64(32)) * u64(slots)) >> u64(32)) & -LINE


@inlined
def after(p, slots):
    """The slot that is probed next."""
    return p + 1 if p + 1 < slots else 0
