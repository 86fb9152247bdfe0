"""What is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.instances import constants_for
from model_check.yardsticks.small_check_service.machine import SMALL_CHECK_SERVICE
from model_check.yardsticks.small_check_service.state import Constants
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine


@dataclass(frozen=True, slots=True)
class Workload:
    """A machine in an instance, and the distinct states a second wanted of it by number of threads."""

    title: str
    machine: Machine
    constants: object
    wanted: dict[int, float]


WORKLOADS = {
    "yardstick": Workload("small check service", SMALL_CHECK_SERVICE, Constants(), {1: 4e6, 2: 6e6}),
    "core": Workload(
        "medium 5.3.3 crash", TRANSACTIONAL_MESSAGES, constants_for("5.3.3", ["crash"], "medium"), {1: 2.5e6, 2: 4e6}
    ),
}
