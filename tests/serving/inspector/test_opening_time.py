"""How long a user waits for the first page of a large comparison, from the command to what is seen."""

import shutil
import subprocess
import sys
import time

import pytest

from serving.inspector.large_folder import METHODS, write_large_folder

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Fifty runs, each with posteriors of ten thousand samples over seventy classes."""
    return write_large_folder(tmp_path_factory.mktemp("large"))


def seconds_to_first_page(folder, page):
    """From the start of the command to the table and to the first chart."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "onepeak", "inspect", str(folder), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            page.goto(server.stdout.readline().strip(), wait_until="commit")
            page.wait_for_selector("#methods tbody tr")
            table = time.perf_counter() - start
            page.wait_for_selector("#tradeoff[data-drawn]")
            return table, time.perf_counter() - start
        finally:
            server.kill()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install Debian's package chromium")
def test_the_first_samples_of_ten_thousand_take_less_than_two_seconds(tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    folder = write_large_folder(tmp_path, splits=1, methods=METHODS[:2])
    command = [sys.executable, "-m", "onepeak", "inspect", str(folder), "--port", "0", "--quiet"]
    taken = []
    with sync_api.sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]).new_page()
        for _ in range(3):
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
                try:
                    address = server.stdout.readline().strip()
                    start = time.perf_counter()
                    page.goto(f"{address}samples", wait_until="commit")
                    page.wait_for_selector("#grid li")
                    taken.append(time.perf_counter() - start)
                finally:  # else a failure would wait for the server for ever
                    server.kill()
    assert min(taken) < 2  # the best of three: others may keep the machine busy


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install Debian's package chromium")
def test_the_first_page_of_fifty_runs_and_ten_thousand_samples_takes_less_than_two_seconds(large):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        taken = [seconds_to_first_page(large, page) for _ in range(3)]
        browser.close()
    print([f"table {table:.2f} s, chart {chart:.2f} s" for table, chart in taken])  # noqa: T201
    assert min(table for table, _ in taken) < 2  # the best of three: others may keep the machine busy
