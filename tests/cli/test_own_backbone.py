"""A network of the user's own through the commands, in processes of their own."""

import html
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import httpx
import numpy as np
import pytest
from PIL import Image

NETS = """
from torch import nn


class Wide(nn.Sequential):
    def __init__(self, num_features):
        super().__init__(nn.Linear(num_features, 24), nn.GELU())


class Maps(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 6, 3, stride=2), nn.BatchNorm2d(6), nn.ReLU())
"""
REFUSED = (
    "The model runs the code of the module 'nets'. If you trust that, set the environment variable ONEPEAK_TRUST=nets"
)
CHROMIUM = shutil.which("chromium")
TINY = ("--epochs", "2", "--device", "cpu", "--quiet")


@pytest.fixture
def onepeak(tmp_path):
    """Runs a command in a folder with the user's file, as a process."""
    (tmp_path / "nets.py").write_text(NETS)

    def call(*arguments, folder=tmp_path, **environment):
        command = [sys.executable, "-m", "onepeak", *map(str, arguments)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)

    return call


def test_it_is_trained_and_asked_where_its_file_is(onepeak, table, tmp_path):
    flags = ("--label", "grade", "--method", "elb", "--backbone", "nets:Wide", "--out", "model", "--logger", "none")
    assert onepeak("train", table, *flags, *TINY).returncode == 0
    refused = onepeak("predict", "model", table)
    assert (refused.returncode, "set the environment variable ONEPEAK_TRUST=nets" in refused.stderr) == (2, True)
    answered = onepeak("predict", "model", table, "--csv", ONEPEAK_TRUST="nets")
    assert (answered.returncode, len(answered.stdout.splitlines())) == (0, 81)
    (tmp_path / "nets.py").write_text(NETS + "# another\n")
    warned = onepeak("predict", "model", table, "--csv", ONEPEAK_TRUST="nets")
    assert (warned.returncode, warned.stdout) == (0, answered.stdout)
    assert "The source file of nets:Wide has changed since the model was trained" in warned.stderr
    (tmp_path / "elsewhere").mkdir()
    refused = onepeak("predict", tmp_path / "model", table, folder=tmp_path / "elsewhere", ONEPEAK_TRUST="nets")
    assert refused.returncode == 2
    assert "`backbone` must name a module that can be imported, got 'nets:Wide'" in refused.stderr


def test_a_comparison_trains_it_in_workers_and_knows_when_it_was_changed(onepeak, table, tmp_path):
    flags = ("--label", "grade", "--backbone", "nets:Wide", "--folds", "1", "--out", "all", "--workers", "2")
    first = onepeak("compare", table, "--methods", "ce,elb", *flags, *TINY)
    assert first.returncode == 0, first.stderr
    assert len(list(tmp_path.glob("all/runs/*/*/result.json"))) == 2
    (tmp_path / "nets.py").write_text(NETS.replace("GELU", "ReLU"))
    again = onepeak("compare", table, "--methods", "ce,elb,slopes", *flags, *TINY)
    assert (again.returncode, "the source file of the backbone differs" in again.stderr) == (2, True)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the user's file, small images, and a comparison of one run on them."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "nets.py").write_text(NETS)
    rng = np.random.default_rng(0)
    for grade in range(3):
        (folder / "photos" / str(grade)).mkdir(parents=True)
        for item in range(12):
            pixels = rng.integers(0, 80, (24, 24, 3)) + 70 * grade
            Image.fromarray(pixels.astype(np.uint8)).save(folder / "photos" / str(grade) / f"{item}.png")
    flags = ("--methods", "elb", "--folds", "1", "--backbone", "nets:Maps", "--out", "all", "--workers", "1", *TINY)
    command = [sys.executable, "-m", "onepeak", "compare", "photos", *flags]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@contextmanager
def served(place, command, model, *flags, trust=""):
    """A server as a process in the user's folder; gives its address."""
    call = [sys.executable, "-m", "onepeak", command, model, *flags, "--port", "0", "--quiet", "--device", "cpu"]
    environment = os.environ | {"ONEPEAK_TRUST": trust}
    with subprocess.Popen(call, cwd=place, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process.stdout.readline().strip().rstrip("/")
        finally:
            process.kill()


RUN = "all/runs/elb/split0-fold0"


def test_it_is_served(onepeak, place):
    image = (place / "photos" / "2" / "0.png").read_bytes()
    with served(place, "serve", RUN, trust="nets") as address:
        request = httpx.post(
            f"{address}/v1/predict?evidence=true", content=image, headers={"Content-Type": "image/png"}
        )
        assert httpx.get(f"{address}/v1/model").json()["backbone"] == "nets:Maps"
    (answer,) = request.json()["predictions"]
    said = onepeak("predict", RUN, "photos/2/0.png", "--json", "--device", "cpu", folder=place, ONEPEAK_TRUST="nets")
    wanted = json.loads(said.stdout)
    assert answer["probs"] == pytest.approx(wanted["probs"], abs=1e-5)
    assert np.shape(answer["evidence"]) == (11, 11)


def test_a_run_is_inspected_as_it_lies_on_disk_where_its_code_is_not_trusted(place):
    with served(place, "inspect", RUN) as address:
        first = html.unescape(httpx.get(f"{address}/").text)
        assert "The page Try it and evidence maps are missing." in first
        assert REFUSED in first
        assert httpx.get(f"{address}/try").status_code == 404
        found = httpx.get(f"{address}/v1/inspect/samples", timeout=60).json()
        assert (found["kind"], found["total"], len(found["entries"][0]["probs"])) == ("pictures", 7, 3)
    with served(place, "inspect", RUN, trust="nets") as address:
        assert "evidence maps are missing" not in httpx.get(f"{address}/").text
        assert httpx.get(f"{address}/try").status_code == 200


def test_what_is_asked_of_a_model_by_name_is_refused_where_its_code_is_not_trusted(onepeak, place):
    for flags in (("all", "--model", RUN), (RUN, "--data", "photos")):
        refused = onepeak("inspect", *flags, "--port", "0", folder=place)
        assert (refused.returncode, refused.stdout, REFUSED in refused.stderr) == (2, "", True)


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install Debian's package chromium")
def test_a_comparison_shows_evidence_where_the_code_is_trusted_and_says_why_it_does_not_elsewhere(place):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'onepeak[dev]'")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        sync_api.expect.set_options(timeout=60_000)
        with served(place, "inspect", "all") as address:
            page.goto(f"{address}/samples")
            page.locator("#grid a").first.click()
            sync_api.expect(page.locator("#seen-note")).to_contain_text(f"No evidence map. {REFUSED} and start again.")
            sync_api.expect(page.locator("#chosen[data-drawn]")).to_be_visible()
            sync_api.expect(page.locator("#seen img")).to_have_count(1)
        with served(place, "inspect", "all", trust="nets") as address:
            page.goto(f"{address}/samples")
            page.locator("#grid a").first.click()
            sync_api.expect(page.locator("#seen .evidence")).to_have_js_property("naturalWidth", 512)
            sync_api.expect(page.locator("#seen-note")).to_be_empty()
        browser.close()
