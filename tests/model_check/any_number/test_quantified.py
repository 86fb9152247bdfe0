"""Kernels of the simulation hold of queues of any length, and not because their hypotheses never hold."""

from __future__ import annotations

import pytest

from model_check.any_number.quantified import Kernel, kernels, op_offset

GIVES_UP = 2_000_000


@pytest.mark.parametrize("kernel", list(kernels()), ids=lambda kernel: kernel.name)
def test_a_kernel_is_proved(kernel: Kernel) -> None:
    assert kernel.is_proved()
    assert kernel.can_occur(halves=2, ops=1)


def test_what_is_false_is_not_proved() -> None:
    assert not op_offset(exactly=True).is_proved(GIVES_UP)
