"""The records that kernels take, and the names of positions in arrays: the first part of every generated module.

The callers of kernels import it, so that both sides have the same names; its text is in the module, so that one file
holds all that the kernels depend on.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]

# In the array `K`, behind the switches and the flags of guards: how many steps there are, and addresses of machine code
STEPS, EXPAND, JUDGE, OBSERVE, FORGET = range(-5, 0)

STATES, GENERATED, BAD_STEP, BAD_STATE, STOPS = range(5)  # in a row of `Shared.outs`; see `search`
PHASE, ARRIVED, GOES_ON, LEFT, FINISHED = range(5)  # in `Shared.barrier`; LEFT are parents, FINISHED levels
CHANGED, FULL, PLACE, STEP, OTHER = range(5)  # in what `compare` returns


class Store(NamedTuple):
    """The states that were found, and their hash table.

    Each thread stores its states in a region of its own. A state's number is its place in the region times the number
    of regions, plus the region.
    """

    states: Words  # region by region
    room: int  # states for which each region has room
    shift: int  # the logarithm of the number of regions
    table: Keys
    keep: np.uint64  # the bits of a hash that are the fingerprint


class Buffers(NamedTuple):
    """One thread's room for the successors of a run."""

    successors: Words
    steps: Numbers  # the step that led to each
    parents: Words  # the state from which it did
    before: Words  # the words of swept successors as they were
    hashes: Keys
    slots: Words  # where the table is searched
    recent: Words  # the words of successors that were seen lately


class Shared(NamedTuple):
    """Arrays that all threads of a search share."""

    starts: Words  # the current level in each region
    ends: Words
    claimed: Words  # the first element: parents of the level that some thread has claimed
    bounds: Words  # the ends of finished levels, shape (levels, regions)
    barrier: Words
    outs: Words  # shape (regions, 8)


class Odds(NamedTuple):
    """The probability of each step of a walk."""

    weights: Words
    switches: Words  # the switch that must be on for the step
    is_on: Words  # room for the switches that are on in each walk, shape (walks, switches)


class WalkEvents(NamedTuple):
    """The columns of the events of walks."""

    walks: Words  # the number of the walk
    times: Words  # the clock
    places: Numbers  # the place in the walk
    steps: Numbers
    rows: Numbers  # the observed fields, shape (fields, events)


class Likeness(NamedTuple):
    """The criteria by which a state and its remainder are compared."""

    kinds: Words  # flags of each step
    actions: Words  # the number of its action
    clauses: Words  # the bits of clauses in each word of a verdict
    queues: Words  # of each queue's length the word, shift, mask and low end, and the most that it may be
    blanks: Words  # the bits of empty places that nothing reads, shape (queues, lengths, words)


class PairBuffers(NamedTuple):
    """Room for the successors of a state and of its remainder."""

    successors: Words
    steps: Numbers  # of both, and marks
    verdicts: Words
