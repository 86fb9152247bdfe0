"""Mermaid text: one line a message, and nothing in a label that Mermaid would read as its own."""

from __future__ import annotations

import pytest

from model_check.counterexample.sequence_diagram import DiagramStep, drawn_path, to_mermaid
from model_check.wording.actions import StepKind
from tests.model_check.counterexample import b02


def test_the_diagram_of_b02_is_this_text() -> None:
    assert to_mermaid(drawn_path(b02.replayed().events), "B02: an op is lost").splitlines() == [
        "---",
        "title: B02 - an op is lost",
        "---",
        "sequenceDiagram",
        "    participant Producer as Producer",
        "    participant Broker as Broker",
        "    participant Halfqueue as Half queue",
        "    Producer->>Halfqueue: 1. half 0",
        "    Producer->>Broker: 2. END rollback for half 0",
        "    Note over Broker: 3. op for half 0 waits in memory",
        "    Note over Producer,Halfqueue: 4. the broker's process dies and starts again",
    ]


def test_a_lost_message_ends_in_a_cross_and_the_violation_has_a_ground_of_its_own() -> None:
    steps = (
        DiagramStep(1, "Producer", "Broker", "END", kind=StepKind.LOST),
        DiagramStep(2, "Broker", "Consumer", "message", is_violation=True),
    )
    assert to_mermaid(steps, "t").splitlines()[-4:] == [
        "    Producer-xBroker: 1. END",
        "    rect rgb(250, 220, 216)",
        "        Broker->>Consumer: 2. message",
        "    end",
    ]


@pytest.mark.parametrize("sign", [";", "#", ":"])
def test_no_sign_of_mermaids_own_is_left_in_a_label(sign: str) -> None:
    text = to_mermaid((DiagramStep(1, "Producer", "Broker", f"a {sign} b"),), f"c {sign} d")
    title, *_, line = [line for line in text.splitlines() if line.startswith(("title", "    Producer"))]
    assert sign not in title.removeprefix("title:")
    assert sign not in line.split(": ", maxsplit=1)[1]
