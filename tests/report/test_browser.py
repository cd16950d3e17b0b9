"""Reports in a real browser: sorting, filtering, picking, keys, and names that do nothing."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from hsiclasso.data.sources import ArraySource
from hsiclasso.report import Asked, write_report
from tests.report.helpers import fitted

CHROMIUM = Path("/usr/bin/chromium")
NAMES = ("beta", "=1+1", "alpha", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>')


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("chromium is not installed: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=str(CHROMIUM), args=flags)
        yield made
        made.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, len(NAMES)))
    y = np.where(np.abs(X) @ [1.0, 0.9, 0.8, 0.7, 0.6] > 3, NAMES[3], NAMES[4])
    source = ArraySource(X, list(NAMES))
    file = tmp_path_factory.mktemp("report") / "report.html"
    selector = fitted(source, y, 5, max_redundancy=1.0)
    write_report(selector, file, source, y, asked=Asked(NAMES[4], (NAMES[3],)))
    return file, selector.result_


@pytest.fixture
def page(browser, report):
    """Open the report; whatever leaves the page, or runs in it, fails the test."""
    context = browser.new_context(accept_downloads=True)
    context.set_default_timeout(10_000)
    made = context.new_page()
    wrong = []
    made.on("request", lambda one: one.url == report[0].as_uri() or wrong.append(one.url))
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda message: wrong.append(message.text))
    made.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    made.goto(report[0].as_uri())
    yield made
    context.close()
    assert not [one for one in wrong if not one.startswith("blob:")]


def names(page):
    return page.locator("#features tbody tr:visible .pick").all_inner_texts()


def test_names_are_text(page, report):
    assert names(page) == list(report[1].names)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert NAMES[3] in page.locator("h1").inner_text()


def test_titles_sort(page, report):
    weight = page.get_by_role("columnheader", name="weight")
    weight.get_by_role("button").click()
    assert weight.get_attribute("aria-sort") == "ascending"
    assert names(page) == list(report[1].names)[::-1]
    weight.get_by_role("button").click()
    assert weight.get_attribute("aria-sort") == "descending"
    assert names(page) == list(report[1].names)
    page.get_by_role("columnheader", name="feature").get_by_role("button").click()
    assert names(page).index("alpha") < names(page).index("beta")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    assert "Sorted by feature" in page.locator("#said").inner_text()


def test_the_filter_hides_rows(page):
    page.get_by_role("searchbox").fill("ALP")
    assert names(page) == ["alpha"]
    assert page.locator("#said").inner_text() == "1 of 5 features"
    page.get_by_role("searchbox").fill("")
    assert len(names(page)) == 5


def test_pointing_marks_in_every_panel(page):
    row = page.locator("#features tbody tr").nth(1)
    row.locator("td").first.hover()
    for part in ("tr", "figure", "#path [data-f]", "#redundancy g"):
        assert page.locator(f"{part}.on").first.get_attribute("data-f") == "1"
    page.locator("h1").hover()
    assert page.locator(".on").count() == 0


def test_picking_stays(page):
    button = page.locator(".pick").nth(2)
    button.click()
    page.locator("h1").hover()
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("h2").first.click()
    assert page.locator("figure.on").get_attribute("data-f") == "2"
    page.get_by_role("button", name="Clear picks").click()
    assert button.get_attribute("aria-pressed") == "false"


def test_a_picture_picks_too(page):
    page.locator("figure[data-f='3'] svg").click()
    assert page.locator(".pick").nth(3).get_attribute("aria-pressed") == "true"


def test_keys_are_enough(page):
    page.locator(".pick").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("tr.on").get_attribute("data-f") == "1"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    pressed = page.locator(".pick[aria-pressed=true]")
    assert pressed.count() == 2
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.locator(".pick").first.evaluate("one => one === document.activeElement")
    page.keyboard.press("Escape")
    assert pressed.count() == 0
    page.get_by_role("columnheader", name="share").get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("share")


def test_the_download_is_a_table_without_formulas(page, report):
    page.get_by_role("searchbox").fill("1")
    page.get_by_role("searchbox").fill("")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["feature"].removeprefix("'") for row in rows] == list(report[1].names)
    assert [row["feature"] for row in rows if row["feature"][0] in "=+-@'"] == ["'=1+1"]
    weights = [feature.weight for feature in report[1].features]
    assert [float(row["weight"]) for row in rows] == weights


def test_copying_gives_tabs(browser, report):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(report[0].as_uri())
    page.get_by_role("button", name="Copy").click()
    page.locator("#said", has_text="copied").wait_for(state="attached")
    text = page.evaluate("navigator.clipboard.readText()")
    lines = text.splitlines()
    assert lines[0].split("\t")[:3] == ["rank", "feature", "weight"]
    assert len(lines) == 6
    assert "\t'=1+1\t" in text
    context.close()


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_pages_are_dark_and_printed_ones_are_not(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == "rgb(22, 24, 28)"
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert not page.locator("#filter").is_visible()
