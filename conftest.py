"""What pytest does not look into for examples, and which tests run on the same worker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

# Text that is appended to a generated module, and no module of its own.
collect_ignore = [f"model_check/explicit/{name}.py" for name in ("hashing", "kernel", "walk_kernel")]

COMPILED = ("tiny", "deep", "plain", "small", "medium", "trio", "small_check_service", "two_phase_commit")


class OneWorkerForAnInstance(LoadScopeScheduling):  # type: ignore[misc]
    """Tests that need the same compiled instance run on one worker, where it is compiled once; others go by their file.

    The instance is known by the parameters in the test's name. (The markers of `--dist loadgroup` do not reach the
    scheduler of pytest-xdist 3.8 under pytest 9.2.)
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, parameters = nodeid.partition("[")
        named = set(re.split(r"[-\]]", parameters))
        return next((name for name in COMPILED if name in named), file.split("::")[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Any:
    """The order in which tests are handed to the workers."""
    return OneWorkerForAnInstance(config, log)
