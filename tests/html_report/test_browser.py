"""The page in a headless Chromium: what a reader does with it, on a desk and on a phone, without an error."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.html_report.opened_page import CONTRAST, DESK, PHONE, SCREENSHOTS, opened_page
from tests.html_report.sample_page import TABLE, verdicts
from tests.sampled import sampled

SCREENS = 6
"""How many the page has at most on a desk before anything is unfolded."""

BOXES = """parts => parts.map((part) => part.getBoundingClientRect())
    .map((box) => [box.left, box.top, box.right, box.bottom])"""


@pytest.fixture(scope="module")
def address(page: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def by_id(page: Page, name: str) -> Locator:
    return page.locator(f"[id='{name}']")


@pytest.mark.parametrize("scheme", sampled(["light", "dark"], 2))
@pytest.mark.parametrize(("name", "viewport"), [("desk", DESK), ("phone", PHONE)])
def test_all_guarantees_and_versions_are_on_the_first_screen(
    browser: Browser, address: str, name: str, viewport: ViewportSize, scheme: Literal["light", "dark"]
) -> None:
    for page in opened_page(browser, address, viewport, scheme=scheme):
        target = SCREENSHOTS / f"first-screen-{name}-{scheme}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(page.screenshot())
        parts = page.locator(".glance thead th:not(:first-child), .glance tbody th, .glance tbody td a")
        boxes = parts.evaluate_all(BOXES)
        assert len(boxes) == len(TABLE.profiles) + 16 * (1 + len(TABLE.profiles))
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= viewport["width"]
            assert 0 <= top < bottom <= viewport["height"]
        words = page.locator(".glance tbody th span").all_inner_texts()
        assert len(words) == len(set(words)) == 16
        heads = page.locator(".glance thead th:not(:first-child)").all_inner_texts()
        assert heads == [profile.name for profile in TABLE.profiles]
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert name == "phone" or page.evaluate("document.documentElement.scrollHeight") <= SCREENS * DESK["height"]


def test_a_click_opens_the_clauses_and_a_second_one_the_schedule(desk: Page) -> None:
    clause, other = by_id(desk, "S1.immune_half-4.9.7"), by_id(desk, "S1.immune_half-4.5.1")
    expect(clause).to_be_hidden()
    desk.locator("a.takes[href='#S1-4.9.7']").click()
    expect(clause.locator("> summary")).to_contain_text("What to do")
    expect(clause.locator(".diagram")).to_have_count(0)
    clause.locator("> summary").click()
    expect(clause.locator(".diagram")).to_be_visible()
    expect(clause.locator(".made-by")).to_contain_text("halfcheck replay --profile 4.9.7 --instance tiny")
    expect(clause.locator(".same")).to_be_hidden()
    desk.locator("a.takes[href='#S1-4.5.1']").click()
    other.locator("> summary").click()
    expect(other.locator(".diagram")).to_be_visible()
    expect(other.locator(".made-by")).to_contain_text("halfcheck replay --profile 4.5.1 --instance tiny")
    expect(clause.locator(".same a")).to_have_attribute("href", "#S1.immune_half-4.5.1")
    assert desk.locator(".clause .diagram").count() == len(verdicts().schedules) + 1


def steps_shown(schedule: Locator) -> list[str]:
    """Which steps of the drawing are not to come yet."""
    parts = schedule.locator(".diagram [data-step]:not(.later)").all()
    return [part.get_attribute("data-step") or "" for part in parts]


def minimal_trace(page: Page) -> Locator:
    """A schedule of three steps."""
    page.locator("#simulation > #minimal > summary").click()
    page.locator("#minimal-0 > summary").click()
    return page.locator("#minimal-0")


def test_buttons_and_keys_step_through_a_schedule(desk: Page) -> None:
    example = minimal_trace(desk)
    assert steps_shown(example) == ["1", "2", "3"]
    example.get_by_role("button", name="Next").click()
    assert steps_shown(example) == ["1"]
    expect(example.locator(".controls output")).to_have_text("step 1 of 3")
    expect(example.locator(".state .now")).to_have_text("1. send half t=0 immunity=-1")
    example.get_by_role("button", name="Next").click()
    expect(example.locator(".state .changed")).to_have_text("transaction[0].localexecuting → commit")
    expect(example.locator(".state tbody tr")).to_have_text(["transaction[0].localexecuting → commit", "half_length1"])
    example.get_by_role("button", name="End").click()
    expect(example.locator(".diagram .here")).to_have_attribute("data-step", "3")
    expect(example.locator(".state tbody tr").first).to_have_text("half_length1 → 2")
    example.get_by_role("button", name="Start").click()
    assert steps_shown(example) == []
    expect(example.locator(".state .now")).to_have_text("The initial state")
    example.locator(".diagram").focus()
    keys = ("ArrowRight", ["1"]), ("ArrowRight", ["1", "2"]), ("ArrowLeft", ["1"]), ("End", ["1", "2", "3"])
    for key, shown in keys:
        desk.keyboard.press(key)
        assert steps_shown(example) == shown, key


def test_a_schedule_plays_by_itself_to_its_end(desk: Page) -> None:
    desk.clock.install(time=0)
    desk.clock.pause_at(600_000)  # until then it goes on by itself
    example = minimal_trace(desk)
    example.get_by_role("button", name="Play").click()
    assert steps_shown(example) == []
    desk.clock.run_for(1_000)
    assert steps_shown(example) == ["1"]
    desk.clock.run_for(5_000)
    assert steps_shown(example) == ["1", "2", "3"]
    expect(example.get_by_role("button", name="Play")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("viewport", [DESK, PHONE])
def test_what_is_folded_opens_by_its_address(browser: Browser, address: str, viewport: ViewportSize) -> None:
    for page in opened_page(browser, f"{address}#S1.immune_half-4.9.7", viewport):
        clause = by_id(page, "S1.immune_half-4.9.7")
        expect(clause.locator(".diagram")).to_be_visible()
        expect(clause.locator("> summary")).to_be_in_viewport()
        expect(by_id(page, "S1.immune_half-5.3.3")).to_be_hidden()
        page.evaluate("location.hash = '#store-0'")
        expect(page.locator("#store-0 table")).to_be_visible()
        expect(page.locator("#store-0 > summary")).to_be_in_viewport()


def test_what_is_folded_opens_by_keyboard(desk: Page) -> None:
    desk.locator("#S2 > summary").focus()
    for place in ("S2", "S2-4.5.1"):
        expect(by_id(desk, place).locator("> summary")).to_be_focused()
        desk.keyboard.press("Enter")
        desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")
    expect(by_id(desk, "S2.commit_after_rollback-4.5.1").locator(".diagram")).to_be_visible()


def test_without_scripts_all_is_open(browser: Browser, address: str) -> None:
    for page in opened_page(browser, address, PHONE, has_scripts=False):
        for part in ("#S1 .harm", "#S1 .put-in", "#S1 .made-by", "#kill-table table", "#store-0 table", "#unseen li"):
            assert page.locator(part).count()
            for one in page.locator(f"{part} p:visible" if part == "#S1 .put-in" else part).all()[:3]:
                expect(one).to_be_visible()
        expect(by_id(page, "S1.immune_half-4.9.7").locator(".same a")).to_be_visible()
        assert page.locator("button:visible, form:visible").count() == 0


def test_an_environment_leaves_the_cells_of_the_table_that_break_in_it(desk: Page) -> None:
    cells = desk.locator(".glance td")
    spared = desk.locator(".glance td.spared")
    expect(spared).to_have_count(0)
    desk.get_by_label("Environment").select_option("quiet")
    expect(spared).to_have_count(cells.count() - desk.locator(".glance a.takes.quiet").count())
    quiet = spared.count()
    desk.get_by_label("Environment").select_option("crash")
    assert 0 < spared.count() < quiet
    expect(desk.locator(".glance td:has(a[href='#S10-5.3.3'])")).not_to_have_class("spared")
    desk.get_by_label("Environment").select_option("")
    expect(spared).to_have_count(0)


def test_the_contents_stand_in_the_order_of_the_page(desk: Page) -> None:
    links = [link.get_attribute("href") for link in desk.locator("nav a").all()]
    sections = [f"#{part.get_attribute('id')}" for part in desk.locator("main > section").all()]
    assert links == [one for one in sections if one in links]


def test_a_filter_acts_on_every_section(desk: Page) -> None:
    desk.locator("#kill-table > summary").click()
    marks = desk.locator("figure svg [data-profile='5.3.3']")
    drawn = "marks => marks.filter((mark) => getComputedStyle(mark).display !== 'none').length"
    assert marks.evaluate_all(drawn) == marks.count() > 30
    desk.get_by_label("Version").select_option("4.9.7")
    assert desk.locator(".glance a.takes:visible").count() == 16
    for of_another in ("#lockstep tbody tr", "#audits tbody tr", "#simulation tbody tr"):
        assert desk.locator(f"{of_another}:visible").count() == 0, of_another
    assert desk.locator("#kill-table tbody tr:visible").count() == 1
    assert marks.evaluate_all(drawn) == 0
    assert desk.locator("#lockstep").evaluate("part => part.classList.contains('nothing')")
    desk.get_by_label("Version").select_option("")
    desk.get_by_label("Environment").select_option("quiet")
    desk.locator("#plots > summary").click()
    drawings = desk.locator("figure .drawing")
    assert {one.get_attribute("data-environment") for one in drawings.all()} == {"quiet", "crash"}
    shown = desk.locator("figure .drawing:visible").all()
    assert {one.get_attribute("data-environment") for one in shown} == {"quiet"}


def test_numbers_say_what_they_are_and_what_makes_them(desk: Page) -> None:
    desk.locator("#pairs > summary").click()
    cell = desk.locator(".pairs td[data-tip^='send half, then tick']")
    expect(cell).to_have_attribute("data-tip", "send half, then tick: 2,468 times")
    desk.get_by_label("Environment").select_option("crash")
    expect(cell).to_have_attribute("data-tip", "send half, then tick: 1,234 times")
    desk.get_by_label("Environment").select_option("")
    desk.locator("figure path[aria-label^='S1, 5.3.3, quiet: 42 of 1,000']").hover()
    expect(desk.locator("#tip")).to_contain_text("42 of 1,000 random walks (4.200%; 95 % interval")
    desk.locator("a.takes[href='#S1-4.9.7']").hover()
    expect(desk.locator("#tip")).to_contain_text("S1 in 4.9.7: broken in the quiet world, ")
    desk.locator("#violating > summary").click()
    desk.locator("#simulation td[data-label='Violating']").first.click()
    command = desk.get_by_role("dialog")
    expect(command).to_contain_text("halfcheck analyze x --report y.html")
    desk.keyboard.press("Escape")
    expect(command).to_be_hidden()


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
    example = minimal_trace(phone)
    example.get_by_role("button", name="Next").click()
    here = example.locator(".diagram .here .label").bounding_box()
    assert here is not None
    assert here["x"] >= 0
    assert here["x"] + here["width"] <= PHONE["width"]
    phone.evaluate("for (const part of document.querySelectorAll('details')) part.open = true;")
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_and_controls_have_names(desk: Page, scheme: str) -> None:
    desk.get_by_label("Colours").select_option(scheme)
    places = ", ".join(f"#{name}, #{name} details" for name in ("S1", "S8", "S5", "simulation", "audits", "lockstep"))
    desk.evaluate(f"for (const part of document.querySelectorAll('{places}')) part.open = true;")
    assert desk.evaluate(CONTRAST) == []
    nameless = "parts => parts.filter((part) => !(part.labels?.length || part.ariaLabel || part.textContent.trim()))"
    controls = desk.locator("button, select, input, a")
    assert controls.count() > 100
    assert controls.evaluate_all(f"parts => ({nameless})(parts).length") == 0


@pytest.mark.parametrize(("name", "viewport"), sampled([("desk", DESK), ("phone", PHONE)], 2))
def test_screenshots_are_kept(browser: Browser, address: str, name: str, viewport: ViewportSize) -> None:
    for page in opened_page(browser, f"{address}#S1.immune_half-4.9.7", viewport):
        clause = by_id(page, "S1.immune_half-4.9.7")
        clause.get_by_role("button", name="Next").click()
        target = SCREENSHOTS / f"report-{name}.png"
        content = page.screenshot(path=target, full_page=True)
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20], "big") == viewport["width"], name
        assert target.read_bytes() == content


def test_what_is_folded_is_printed_but_for_schedules_that_nobody_opened(desk: Page) -> None:
    desk.locator("a.takes[href='#S1-4.9.7']").click()
    by_id(desk, "S1.immune_half-4.9.7").locator("> summary").click()
    expect(desk.locator(".diagram:visible")).to_have_count(1)
    desk.evaluate("dispatchEvent(new Event('beforeprint'))")
    desk.emulate_media(media="print")
    assert desk.locator(".clause:visible").count() == desk.locator(".clause").count()
    assert desk.locator(".diagram:visible").count() == 1
    assert desk.locator("#kill-table table").is_visible()
    assert desk.locator("nav:visible, .controls:visible").count() == 0
