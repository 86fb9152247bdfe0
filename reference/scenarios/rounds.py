"""How far the check service has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.cluster.cluster import Cluster


def rounds_ended(cluster: Cluster) -> int:
    """How many check rounds have ended so far."""
    return cluster.recorder.counts["round_ended"]
