"""Every walk-through by its name."""

from __future__ import annotations

from typing import Final

from reference.scenarios.acting_slave import ACTING_SLAVE, OWN_OFFSETS
from reference.scenarios.code_walk import CODE_WALK
from reference.scenarios.failed_consumption import FAILED_CONSUMPTION
from reference.scenarios.five_outcomes import FIVE_OUTCOMES
from reference.scenarios.same_message import SAME_MESSAGE
from reference.scenarios.storage_flow import STORAGE_FLOW
from reference.scenarios.ten_messages import LATE_COMMIT, TEN_MESSAGES

SCENARIOS: Final = {
    scenario.name: scenario
    for scenario in (
        CODE_WALK, TEN_MESSAGES, LATE_COMMIT, FIVE_OUTCOMES, SAME_MESSAGE, STORAGE_FLOW, ACTING_SLAVE, OWN_OFFSETS,
        FAILED_CONSUMPTION,
    )
}  # fmt: skip
