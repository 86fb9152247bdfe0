"""Starts the first stage where it runs: the driver, which only names the task, need not load the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_trace_analysis.audit.stages.scan_task import ScanTask
    from spark_trace_analysis.records.store_splits import Split


def start_scan(task: ScanTask, split: Split) -> None:
    """Read one split and write its files."""
    from spark_trace_analysis.audit.stages.scan_stage import scan_split

    scan_split(task, split)
