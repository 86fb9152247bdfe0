"""Parts of a job in processes of their own: results in order, and errors with the part that they are of."""

import math

import pytest

from model_check.processes import on_all_cores


def test_results_come_in_order_from_other_processes_and_errors_with_their_part() -> None:
    with on_all_cores() as spread:
        assert list(spread(math.sqrt, [16, 4, 9])) == [4, 2, 3]
        results = spread(math.sqrt, [4, -1])
        assert next(results) == 2
        with pytest.raises(ValueError, match=r"domain|nonnegative"):
            next(results)
