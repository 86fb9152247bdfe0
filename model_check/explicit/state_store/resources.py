"""The resources of a search: memory, disk, a folder for checkpoints."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from model_check.errors import ModelCheckError
from model_check.explicit.state_store.reserved_memory import available_bytes, size_text

LEAST_MEMORY = 32 << 20  # bytes that a search is given at least
EXACT = 0  # the value of `Resources.fingerprint_bits` with which words are compared


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of a search.

    Raises
    ------
    ModelCheckError
        When they contradict each other, or there is too little memory for any search.
    """

    memory: int | None = None  # bytes for states and hash table; most of the available memory when None
    disk: Path | None = None  # the folder for spilled states; a temporary one when None
    spill: bool = True  # whether states may be spilled to the disk
    checkpoint: Path | None = None  # the folder of the search's checkpoints, and of its spilled states
    checkpoint_every: float = 60.0  # seconds between two checkpoints
    resume: bool = False  # go on from the checkpoint in that folder
    fingerprint_bits: int = EXACT  # bits of the hash that stand for a state (hash compaction), or `EXACT`

    def __post_init__(self) -> None:
        message = ""
        if self.memory is not None and self.memory < LEAST_MEMORY:
            least = size_text(LEAST_MEMORY)
            message = f"{size_text(self.memory)} of memory are too little for a search: give {least} or more"
        elif self.disk is not None and not self.spill:
            message = f"a folder for states ({self.disk}) and no disk contradict each other: give one of the two"
        elif self.disk is not None and self.checkpoint is not None:
            message = (
                f"two folders for states, {self.disk} and {self.checkpoint}: "
                "with a checkpoint, states that leave the memory go to its folder, so give no other"
            )
        elif self.resume and self.checkpoint is None:
            message = "nothing to resume from: give the folder of the checkpoint, too (--checkpoint DIR)"
        elif self.checkpoint_every < 0:
            message = f"a checkpoint every {self.checkpoint_every:g} seconds: give no negative number"
        elif not 0 <= self.fingerprint_bits <= 64:
            message = f"fingerprints of {self.fingerprint_bits} bits: give 1 to 64"
        if message:
            raise ModelCheckError(message)

    def memory_bytes(self) -> int:
        """Bytes for states and hash table."""
        return max(available_bytes(), LEAST_MEMORY) if self.memory is None else self.memory

    def folder(self) -> Path:
        """The folder of spilled states: by custom, large temporary files go to /var/tmp."""
        if self.checkpoint is not None or self.disk is not None:
            return self.checkpoint or self.disk or Path()
        usual = Path("/var/tmp")  # noqa: S108 (the file has no name there)
        return usual if "TMPDIR" not in os.environ and os.access(usual, os.W_OK) else Path(tempfile.gettempdir())
