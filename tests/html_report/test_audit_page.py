"""The page of an audit in a headless Chromium: on a desk, on a phone and on paper, without an error."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from conformance.golden_stores import golden_store
from html_report.audit_page import write_audit_page
from model_check.defects.catalogue import catalogue
from reference.format.commit_log import CommitLog
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection
from spark_trace_analysis.records.version import Writer
from tests.html_report.opened_page import CONTRAST, DESK, PHONE, SCREENSHOTS, opened_page
from tests.sampled import sampled
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE

LOG = f"commitlog/{0:020d}"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The audit of a real broker's store of which two bodies were changed."""
    folder = tmp_path_factory.mktemp("page")
    store = folder / "store"
    shutil.copytree(golden_store("5.3.3", "late").path, store, ignore=shutil.ignore_patterns("*.gz", "at_kill"))
    raw = bytearray((store / LOG).read_bytes())
    for record in list(CommitLog.open(store).records())[3:7:3]:
        raw[record.physical_offset + 88] ^= 1
    (store / LOG).write_bytes(raw)
    write_audit_page(audit_store(store), folder / "audit.html", limit=1000)
    return (folder / "audit.html").as_uri()


def test_a_state_and_a_text_choose_the_rows(desk: Page) -> None:
    rows = desk.locator("#transactions tbody tr")
    said = desk.locator("#shown")
    everything = rows.count()
    expect(said).to_have_text("")
    desk.get_by_label("State").select_option("parked")
    assert 0 < rows.locator("visible=true").locator("th").count() < everything
    expect(said).to_have_text(f"{rows.locator('th:visible').count()} found.")
    desk.get_by_label("Text").fill("no such key")
    expect(said).to_have_text("0 found.")
    desk.get_by_label("State").select_option("")
    desk.get_by_label("Text").fill("a13")
    expect(said).to_have_text("1 found.")
    desk.locator("#transactions tr:visible details summary").click()
    expect(desk.locator("#transactions details[open] div").first).to_contain_text(" at ")


def test_the_tables_have_the_whole_width_of_a_desk(desk: Page) -> None:
    widths = [part.bounding_box() for part in desk.locator("section, .grave-rows, .damage").all()]
    assert all(box is not None and box["width"] > DESK["width"] * 0.85 for box in widths)
    expect(desk.locator(".lede")).to_contain_text("damage. The store was")


def test_a_defect_that_a_row_resembles_is_explained_on_the_page(desk: Page) -> None:
    link = desk.locator(".grave-rows a.id").first
    row = desk.locator(f"#defects tr{link.get_attribute('href')}")
    expect(row).to_contain_text(catalogue()[link.inner_text()].name)
    expect(desk.locator(".lede")).to_contain_text(
        re.compile(r"Made on 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d.\d+ [+-]\d\d:\d\d")
    )
    field = desk.get_by_label("Text")
    assert field.evaluate("part => part.scrollWidth <= part.clientWidth"), "its placeholder is cut"


@pytest.mark.parametrize(("viewport", "page_size"), [(DESK, 50), (PHONE, 20)])
def test_many_rows_come_page_by_page(browser: Browser, tmp_path: Path, viewport: ViewportSize, page_size: int) -> None:
    audit = audit_store(golden_store("5.3.3", "late").path)
    rows = tuple(replace(audit.transactions[0], unique_key=f"K{number}") for number in range(250))
    write_audit_page(replace(audit, transactions=rows), tmp_path / "audit.html", limit=1000)
    for page in opened_page(browser, (tmp_path / "audit.html").as_uri(), viewport):
        shown = page.locator(".grave-rows tbody th:visible")
        expect(shown).to_have_count(page_size)
        assert page.evaluate("document.documentElement.scrollHeight") < 12_000
        page.get_by_role("button", name=f"Show {page_size} more of {250 - page_size}").click()
        expect(shown).to_have_count(2 * page_size)
        page.get_by_label("Text").fill("k249")
        expect(shown).to_have_count(1)
        page.get_by_label("Text").fill("")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(shown).to_have_count(250)


def test_the_page_names_each_release_that_wrote_and_what_was_asked_for(tmp_path: Path) -> None:
    audit = audit_store(golden_store("5.3.3", "late").path, question=NO_TRACE)
    upgraded = replace(audit, writers=(Writer(0, "4.9.7"), Writer(740, "5.2.0-5.3.3")))
    page = tmp_path / "audit.html"
    for one, said in (
        (audit, ["written by 5.2.0 to 5.3.3.", "<h2>Not plainly delivered or rolled back</h2>"]),
        (upgraded, ["written by 4.9.7, from byte 740 of the log on by 5.2.0 to 5.3.3."]),
        (audit.narrowed(Selection(states=(TransactionState.DELIVERED,))), ["<h2>What was asked for</h2>"]),
    ):
        write_audit_page(one, page, limit=1000)
        text = page.read_text(encoding="utf-8")
        assert [words for words in said if words not in text] == []


def test_damage_is_listed_with_file_and_byte(desk: Page) -> None:
    expect(desk.locator(".lede")).to_contain_text("2 pieces of damage")
    expect(desk.locator("#damage tbody tr")).to_have_count(2)
    expect(desk.locator("#damage tbody tr").first).to_contain_text("does not match its checksum")
    expect(desk.locator("#damage code").first).to_have_text(LOG)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_and_controls_have_names(desk: Page, scheme: str) -> None:
    desk.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for part in desk.locator("details").all():
        part.evaluate("part => { part.open = true; }")
    assert desk.evaluate(CONTRAST) == []
    for control in desk.locator("select, input").all():
        assert control.evaluate("part => part.labels.length"), control


def test_nothing_is_cut_on_a_phone(phone: Page) -> None:
    for part in phone.locator("details").all():
        part.evaluate("part => { part.open = true; }")
    assert phone.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for table in phone.locator(".scroll").all():
        assert table.evaluate("part => part.scrollWidth <= part.clientWidth"), table


def test_all_is_printed(desk: Page) -> None:
    desk.get_by_label("State").select_option("parked")
    desk.evaluate("dispatchEvent(new Event('beforeprint'))")
    desk.emulate_media(media="print")
    assert all(part.is_visible() for part in desk.locator("#transactions tr:not([hidden]) details div").all())
    assert not desk.locator(".filter").is_visible()


@pytest.mark.parametrize(("name", "viewport"), sampled([("desk", DESK), ("phone", PHONE)], 2))
@pytest.mark.parametrize("scheme", sampled(["light", "dark", "print"], 2))
def test_screenshots_are_kept(browser: Browser, address: str, name: str, viewport: ViewportSize, scheme: str) -> None:
    for page in opened_page(browser, address, viewport):
        if scheme == "print":
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            page.emulate_media(media="print")
        else:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        target = SCREENSHOTS / f"audit-{viewport['width']}-{scheme}.png"
        content = page.screenshot(path=target, full_page=True)
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20], "big") == viewport["width"], name
        assert target.read_bytes() == content
