"""A browser for each module of tests of the pages, and one filled page for all; each module says where its own is."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from html_report.page import render
from tests.html_report.opened_page import DESK, PHONE, opened_page
from tests.html_report.sample_page import full


@pytest.fixture(scope="session")
def page() -> str:
    """The text of the page that has every section."""
    return render(full())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The one of `setup/install_browser.py`, or CHROMIUM.

    As long as it is open, its event loop counts as running in this thread, and no test behind can begin another one.
    """
    folder = Path(sys.prefix) / "chromium"
    program = os.environ.get("CHROMIUM") or str(folder / "chromium")
    assert Path(program).is_file(), f"{program} is missing: run make browser, or set CHROMIUM to a Chromium"
    environment: dict[str, str | float | bool] = dict(os.environ)
    if folder in Path(program).parents:
        environment |= {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_FILE": str(folder / "fonts.conf")}
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--font-render-hinting=none"]
        opened = playwright.chromium.launch(executable_path=program, args=arguments, env=environment)
        yield opened
        opened.close()


@pytest.fixture
def desk(browser: Browser, address: str) -> Iterator[Page]:
    yield from opened_page(browser, address, DESK)


@pytest.fixture
def phone(browser: Browser, address: str) -> Iterator[Page]:
    yield from opened_page(browser, address, PHONE)
