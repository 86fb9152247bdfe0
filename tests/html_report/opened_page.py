"""A page opened in the browser: nothing may be said on the console, and nothing else fetched."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize

SCREENSHOTS = Path("build") / "screenshots"
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}

CONTRAST = """() => {
  const light = (colour) => {
    const part = (value) => (value /= 255) <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  };
  const behind = (part) => {
    for (let at = part; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const seen = (part) => part.checkVisibility() && !part.closest("svg, .sr, .pairs tbody td")
    && [...part.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  return [...document.querySelectorAll("body *")].filter(seen).map((part) => {
    const [a, b] = [light(getComputedStyle(part).color), light(behind(part))].sort((x, y) => y - x);
    return { words: part.textContent.trim().slice(0, 40), ratio: (a + .05) / (b + .05) };
  }).filter(({ ratio }) => ratio < 4.5);
}"""
"""Gives the words of a page whose contrast with what is behind them is too low to be read."""


def opened_page(
    browser: Browser,
    address: str,
    viewport: ViewportSize,
    *,
    scheme: Literal["light", "dark"] = "light",
    has_scripts: bool = True,
) -> Iterator[Page]:
    """The page; whatever the console says, fails the test, and so does a request for anything but the page."""
    page = browser.new_page(viewport=viewport, color_scheme=scheme, java_script_enabled=has_scripts)
    page.set_default_timeout(10_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    own = address.partition("#")[0]
    page.on("request", lambda request: said.append(request.url) if request.url.partition("#")[0] != own else None)
    page.goto(address)
    if has_scripts:
        page.wait_for_function("!document.documentElement.classList.contains('folding')")
    yield page
    page.close()
    assert said == []
