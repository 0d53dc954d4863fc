"""How long a user waits for the first pages of a large comparison, from the command to what is seen."""

import shutil
import time

import pytest

from http_server import commanded
from report.whole_runs import write_whole_comparison

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs a browser: install Debian's package chromium"),
]
METHODS = ("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes", "corn", "coral")


@pytest.fixture
def page():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1280, "height": 860})
        browser.close()


def seconds(folder, page, address, shown, *, with_command):
    """From the start of the command, or of the request, to what is shown; the best of three, on a busy machine."""
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        with commanded("inspect", folder) as (_, root):
            start = start if with_command else time.perf_counter()
            page.goto(root + address, wait_until="commit")
            page.wait_for_selector(shown)
            taken.append(time.perf_counter() - start)
    return min(taken)


@pytest.mark.parametrize(
    ("methods", "splits", "address", "shown"),
    [(METHODS[:2], 1, "/samples", "#grid li"), (METHODS, 5, "/", "#methods tbody tr")],
    ids=["samples", "table of fifty runs"],
)
def test_ten_thousand_samples_of_seventy_classes_are_shown_in_two_seconds(
    tmp_path, page, methods, splits, address, shown
):
    disorders = {method: 0.3 if method in ("ce", "pn", "ren") else 0.0 for method in methods}
    write_whole_comparison(tmp_path, disorders, splits=splits, num_test=10_000, num_classes=70, epochs=60)
    assert seconds(tmp_path, page, address, shown, with_command=splits > 1) < 2
