import html
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import httpx
import pytest
from starlette.testclient import TestClient

from onepeak.data.datasets.biopsies import GRADES
from report.whole_runs import write_whole_comparison
from serving.inspector.tiny_comparison import write_tiny_comparison


@pytest.fixture
def run(run):
    """Runs `onepeak inspect`; gives the exit status and what was printed."""
    return partial(run, "inspect")


@pytest.fixture
def folder(tmp_path):
    return write_whole_comparison(tmp_path / "compared", {"ce": 1.0, "elb": 0.0})


@contextmanager
def served(*arguments):
    """A real process on any free port; gives the address and the process."""
    command = [sys.executable, "-m", "onepeak", "inspect", *map(str, arguments), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_a_comparison_is_served_until_it_is_told_to_stop(folder):
    with served(folder) as (address, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert "2 methods, 2 splits, 4 runs" in httpx.get(address).text
        rows = httpx.get(f"{address}v1/inspect/overview").json()["rows"]
        assert [row["row"] for row in rows] == ["ce", "elb"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny_comparison(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize("unsure", ["highest", "lowest"])
@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        (["{0}/runs/elb/split0-fold0"], 25),
        (["{0}", "--model", "{0}/runs/elb/split0-fold0"], 50),
        (["{0}/runs/elb/split0-fold0", "--data", "{0}/../data"], 60),
    ],
    ids=["a run", "a comparison with a model", "a model with data"],
)
def test_with_a_model_it_can_be_tried(run, monkeypatch, tiny, tmp_path, arguments, total, unsure):
    """What would be served is looked at here, where the packages are loaded already."""
    shown = []
    monkeypatch.setattr("onepeak.serving.http.serve_app", lambda app, **_: shown.append(app))
    actions = tmp_path / "actions.csv"
    actions.write_text("label,action\n" + "".join(f"{grade},treat {grade}\n" for grade in GRADES))
    told = "Predicting 60 samples ...\n" if "--data" in arguments else ""
    flags = ("--device", "cpu", "--actions", actions, "--unsure", unsure)
    assert run(*(each.format(tiny) for each in arguments), *flags) == (0, "", told)
    image = next((tiny.parent / "data").rglob("*.png")).read_bytes()
    with TestClient(shown[0], base_url="http://localhost") as client:
        assert client.get("/try").status_code == 200
        assert client.get("/v1/inspect/samples").json()["total"] == total
        kind = {"Content-Type": "image/png"}
        (said,) = client.post("/v1/predict", content=image, headers=kind).json()["predictions"]
        assert said["action"] == f"treat {said['interval_names'][{'highest': 1, 'lowest': 0}[unsure]]}"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "must be a folder that onepeak compare or train wrote, got no folder."),
        (["compared", "--order", "a,b"], "`--order` does nothing without --data: leave it out."),
        (["compared", "--host", "0.0.0.0"], "`host` must be 127.0.0.1 without a token"),
        (["compared", "--actions", "nowhere.csv"], "nowhere.csv cannot be read: No such file"),
        (["compared", "--model", "nowhere"], "must be a model's folder, got nothing there"),
        (["compared", "--data", "biopsies", "--model", "x"], "`--model` does nothing with --data"),
        (["compared", "--data", "biopsies"], "must be a model's folder, got one without onepeak.json"),
    ],
)
def test_what_cannot_be_inspected_is_one_line(run, folder, arguments, message):
    status, output, errors = run(folder.parent / arguments[0], *arguments[1:])
    assert (status, output) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.bad_input
def test_a_run_of_an_unknown_method_is_shown_as_it_lies_on_disk_but_not_on_a_mistyped_device(
    run, monkeypatch, tiny, tmp_path
):
    shown = []
    monkeypatch.setattr("onepeak.serving.http.serve_app", lambda app, **_: shown.append(app))
    folder = shutil.copytree(tiny, tmp_path / "own") / "runs" / "elb" / "split0-fold0"
    for name in ("onepeak.json", "result.json"):
        path = folder / name
        path.write_text(path.read_text().replace('"method": "elb"', '"method": "mine"'))
    assert run(folder, "--quiet")[0] == 0
    with TestClient(shown[0], base_url="http://localhost") as client:
        assert "was trained with 'mine', a method of your own" in html.unescape(client.get("/").text)
        assert client.get("/v1/inspect/samples").json()["total"] == 25
    status, output, errors = run(folder, "--device", "cudaa")
    assert (status, output) == (2, "")
    assert "Unknown `--device` 'cudaa'. Did you mean 'cuda'?" in errors
