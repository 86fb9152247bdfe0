"""Sequence diagrams: every label fits, every step is told in words, and nothing from outside gets in."""

import re
from xml.etree import ElementTree as ET

import pytest

from model_check.counterexample.sequence_diagram import DiagramStep, draw
from model_check.wording.actions import StepKind

SVG = "{http://www.w3.org/2000/svg}"

STEPS = (
    DiagramStep(1, "Producer", "Broker", "send half of t0"),
    DiagramStep(2, "Producer", "Producer", "the local transaction decides COMMIT"),
    DiagramStep(3, "Check service", "Half queue", "puts the half back for its immunity, a copy at offset 1"),
    DiagramStep(4, "Producer", "Broker", "END_TRANSACTION commit", kind=StepKind.LOST),
    DiagramStep(5, "", "", "the broker crashes", StepKind.BREAK),
    DiagramStep(6, "Broker", "Consumer", "delivers t0 a second time", is_violation=True),
)


def drawn(steps: tuple[DiagramStep, ...] = STEPS) -> ET.Element:
    return ET.fromstring(draw(steps, "S1 is violated", "d"))  # noqa: S314 (our own output)


def test_it_is_told_in_words_for_those_who_do_not_see_it() -> None:
    root = drawn()
    assert root.get("role") == "img"
    labelled_by = (root.get("aria-labelledby") or "").split()
    texts = {element.get("id"): element.text or "" for element in root if element.get("id")}
    assert [texts[name] for name in labelled_by][:1] == ["S1 is violated"]
    assert all(f"{step.number}. " in texts["d-desc"] and step.label in texts["d-desc"] for step in STEPS)


def test_participants_stand_in_the_order_of_the_protocol() -> None:
    heads = [text.text for text in drawn().iter(f"{SVG}text") if text.get("class") == "head-name"]
    assert heads == ["Producer", "Broker", "Half queue", "Check service", "Consumer"]


def test_a_participant_of_another_name_stands_on_the_right() -> None:
    steps = (DiagramStep(1, "Name server", "Broker", "routes"),)
    heads = [text.text for text in drawn(steps).iter(f"{SVG}text") if text.get("class") == "head-name"]
    assert heads == ["Broker", "Name server"]


def test_each_step_is_a_group_with_its_number_and_kind() -> None:
    groups = [(g.get("data-step"), g.get("class")) for g in drawn().iter(f"{SVG}g")]
    assert groups == [
        ("1", "step message"),
        ("2", "step message"),
        ("3", "step message"),
        ("4", "step lost"),
        ("5", "step break"),
        ("6", "step message violation"),
    ]


def test_labels_fit_between_the_lifelines_that_they_join() -> None:
    for group in drawn().iter(f"{SVG}g"):
        lines = [line for line in group.iter(f"{SVG}line") if line.get("class") == "arrow"]
        if not lines or "lost" in (group.get("class") or ""):
            continue
        room = abs(float(lines[0].get("x2", "0")) - float(lines[0].get("x1", "0")))
        labels = [text.text or "" for text in group.iter(f"{SVG}text") if text.get("class") == "label"]
        assert max(len(label) for label in labels) * 6.5 <= room


def test_everything_lies_inside_the_view_box() -> None:
    root = drawn()
    _, _, width, height = (float(number) for number in (root.get("viewBox") or "").split())
    for rect in root.iter(f"{SVG}rect"):
        x, y = float(rect.get("x", "0")), float(rect.get("y", "0"))
        assert x >= 0
        assert x + float(rect.get("width", "0")) <= width
        assert y + float(rect.get("height", "0")) <= height


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", 'half "0" & 1'])
def test_labels_are_text_and_nothing_else(label: str) -> None:
    root = drawn((DiagramStep(1, "Producer", "Broker", label),))
    assert not list(root.iter(f"{SVG}script"))
    words = " ".join(text.text or "" for text in root.iter(f"{SVG}text") if text.get("class") == "label")
    assert words == label


def test_it_needs_nothing_from_elsewhere() -> None:
    assert set(re.findall(r"https?://[^\"' )]+", draw(STEPS, "t", "d"))) == {"http://www.w3.org/2000/svg"}


def test_a_schedule_without_steps_is_still_a_drawing() -> None:
    assert drawn(()).tag == f"{SVG}svg"
