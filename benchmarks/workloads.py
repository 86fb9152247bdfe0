"""The workloads: a name, and the words after ``halfcheck``."""

WORKLOADS: dict[str, tuple[str, ...]] = {
    "start_of_the_command_line": ("--help",),
}
"""Every choice (profile, instance, faults, seed) is fixed, so that two runs differ by the code alone."""
