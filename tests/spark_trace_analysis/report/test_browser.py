"""The page in a headless Chromium: what a reader does with it, on a desk and on a phone, without an error."""

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from spark_trace_analysis.report.page import write
from tests.spark_trace_analysis.report.opened_page import CONTRAST, DESK, PHONE, SCREENSHOTS, opened_page
from tests.spark_trace_analysis.report.sample_page import FULL


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "index.html"
    write(FULL, path)
    return path.as_uri()


def counterexample(page: Page) -> Locator:
    return page.locator("#example-S1-immune_half")


def steps_shown(page: Page) -> list[str]:
    """Which steps of the drawing are not to come yet."""
    parts = counterexample(page).locator(".diagram [data-step]:not(.later)")
    return [part.get_attribute("data-step") or "" for part in parts.all()]


def test_buttons_step_through_a_counterexample(desk: Page) -> None:
    example = counterexample(desk)
    assert steps_shown(desk) == ["1", "2", "3"]
    example.get_by_role("button", name="Next").click()
    assert steps_shown(desk) == ["1"]
    expect(example.get_by_role("status").first).to_have_text("step 1 of 3")
    expect(example.locator(".state .now")).to_have_text("1. send half t=0")
    example.get_by_role("button", name="Next").click()
    assert steps_shown(desk) == ["1", "2"]
    expect(example.locator(".state .changed")).to_have_text("transaction[0].localexecuting → commit")
    expect(example.locator(".state tbody tr")).to_have_text(["transaction[0].localexecuting → commit", "half_length1"])
    example.get_by_role("button", name="End").click()
    expect(example.locator(".diagram .here")).to_have_attribute("data-step", "3")
    expect(example.locator(".state tbody tr").first).to_have_text("half_length1 → 2")
    example.get_by_role("button", name="Back").click()
    assert steps_shown(desk) == ["1", "2"]
    example.get_by_role("button", name="Start").click()
    assert steps_shown(desk) == []
    expect(example.locator(".state .now")).to_have_text("The initial state")


def test_keys_step_through_a_counterexample(desk: Page) -> None:
    counterexample(desk).locator(".diagram").focus()
    for key, shown in (
        ("ArrowRight", ["1"]),
        ("ArrowRight", ["1", "2"]),
        ("ArrowLeft", ["1"]),
        ("End", ["1", "2", "3"]),
        ("Home", []),
    ):
        desk.keyboard.press(key)
        assert steps_shown(desk) == shown, key


def test_a_schedule_plays_by_itself_to_its_end(desk: Page) -> None:
    desk.clock.install()
    example = counterexample(desk)
    example.get_by_role("button", name="Play").click()
    assert steps_shown(desk) == []
    desk.clock.run_for(1_000)
    assert steps_shown(desk) == ["1"]
    desk.clock.run_for(5_000)
    assert steps_shown(desk) == ["1", "2", "3"]
    expect(example.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")


def test_a_filter_acts_on_every_section(desk: Page) -> None:
    desk.locator("#all-verdicts > summary").click()
    everything = desk.locator("#all-verdicts tbody")
    assert sum(row.is_visible() for row in everything.all()) == 3
    marks = desk.locator("figure svg [data-profile='5.3.3']")
    drawn = "marks => marks.filter((mark) => getComputedStyle(mark).display !== 'none').length"
    assert marks.evaluate_all(drawn) == marks.count() > 30
    desk.get_by_label("Profile").select_option("4.9.7")
    assert [row.get_attribute("data-profile") for row in everything.all() if row.is_visible()] == ["4.9.7"]
    for of_another in ("#counterexamples details", "#lockstep tbody", "#audits tbody tr", "#simulation tbody tr"):
        assert not any(part.is_visible() for part in desk.locator(of_another).all()), of_another
    assert marks.evaluate_all(drawn) == 0
    assert desk.locator("#counterexamples").evaluate("part => part.classList.contains('nothing')")
    desk.get_by_label("Profile").select_option("")
    desk.get_by_label("Environment").select_option("quiet")
    drawings = desk.locator("figure .drawing").all()
    assert {one.get_attribute("data-environment") for one in drawings if one.is_visible()} == {"quiet"}
    assert {one.get_attribute("data-environment") for one in drawings} == {"quiet", "crash"}
    expect(counterexample(desk)).to_be_visible()


def test_the_pair_matrix_counts_the_runs_that_are_chosen(desk: Page) -> None:
    cell = desk.locator(".pairs td[data-told^='send half, then tick']")
    expect(cell).to_have_attribute("data-told", "send half, then tick: 2,468 times")
    desk.get_by_label("Environment").select_option("crash")
    expect(cell).to_have_attribute("data-told", "send half, then tick: 1,234 times")


def test_a_mark_says_its_number_where_the_pointer_is(desk: Page) -> None:
    desk.locator("figure path[aria-label^='S1, 5.3.3, quiet: 42 of 1,000']").hover()
    expect(desk.locator("#told")).to_contain_text("42 of 1,000 traces (4.200%; 95 % interval")


def test_a_number_shows_the_command_that_makes_it(desk: Page) -> None:
    desk.locator("#simulation td[data-label='Violating']").first.click()
    command = desk.get_by_role("dialog")
    expect(command).to_contain_text("halfcheck analyze x --report y.html")
    desk.keyboard.press("Escape")
    expect(command).to_be_hidden()
    desk.locator("a.cell.violated").click()
    expect(desk.locator("#verdict-1 .made-by")).to_be_visible()
    expect(desk.locator("#verdict-1 .made-by")).to_contain_text("halfcheck check --profile 5.3.3 --property S1")


def test_colours_are_light_or_dark_as_one_likes(desk: Page) -> None:
    def paper() -> str:
        return str(desk.evaluate("getComputedStyle(document.body).backgroundColor"))

    desk.get_by_label("Colours").select_option("dark")
    dark = paper()
    desk.get_by_label("Colours").select_option("light")
    light = paper()
    assert dark != light
    desk.get_by_label("Colours").select_option("")
    desk.emulate_media(color_scheme="dark")
    assert paper() == dark
    desk.emulate_media(color_scheme="light")
    assert paper() == light


def test_nothing_is_cut_on_a_phone(phone: Page) -> None:
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    example = counterexample(phone)
    example.get_by_role("button", name="Next").click()
    here = example.locator(".diagram .here .label").bounding_box()
    assert here is not None
    assert here["x"] >= 0
    assert here["x"] + here["width"] <= PHONE["width"]
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_and_controls_have_names(desk: Page, scheme: str) -> None:
    desk.get_by_label("Colours").select_option(scheme)
    for part in desk.locator("details").all():
        part.evaluate("part => { part.open = true; }")
    assert desk.evaluate(CONTRAST) == []
    nameless = "part => !(part.labels?.length || part.ariaLabel || part.textContent.trim())"
    for control in desk.locator("button, select, input").all():
        assert not control.evaluate(nameless), control


@pytest.mark.parametrize(("name", "viewport"), [("desk", DESK), ("phone", PHONE)])
def test_screenshots_are_kept(browser: Browser, address: str, name: str, viewport: ViewportSize) -> None:
    for page in opened_page(browser, address, viewport):
        counterexample(page).get_by_role("button", name="Next").click()
        target = SCREENSHOTS / f"report-{viewport['width']}.png"
        content = page.screenshot(path=target, full_page=True)
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20], "big") == viewport["width"], name
        assert target.read_bytes() == content


def test_all_is_printed_whatever_is_folded(desk: Page) -> None:
    desk.evaluate("dispatchEvent(new Event('beforeprint'))")
    desk.emulate_media(media="print")
    assert all(part.is_visible() for part in desk.locator("table.steps").all())
    assert not any(part.is_visible() for part in desk.locator("nav, .controls").all())
