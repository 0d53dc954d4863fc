"""A network of the user's own through the commands, in this process but for one worker."""

import html
import json
import sys

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from in_process import Here
from onepeak.cli import main

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
TINY = ("--epochs", "2", "--device", "cpu", "--quiet")
RUN = "all/runs/elb/split0-fold0"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the user's file, small images, and a comparison of one run on them."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "nets.py").write_text(NETS)
    rng = np.random.default_rng(0)
    for grade in range(3):
        (folder / "photos" / str(grade)).mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 80, (24, 24, 3)) + 70 * grade
            Image.fromarray(pixels.astype(np.uint8)).save(folder / "photos" / str(grade) / f"{number}.png")
    flags = ("--methods", "elb", "--folds", "1", "--backbone", "nets:Maps", "--out", "all", *TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.chdir(folder)
        patch.setitem(sys.modules, "jinja2", None)  # no report
        patch.setattr("onepeak.cli.compare.run.executor_of", lambda *_, **__: Here())
        patch.setattr(sys, "argv", ["onepeak", "compare", "photos", *flags])
        with pytest.raises(SystemExit) as stopped:
            main()
        sys.modules.pop("nets", None)
    assert not stopped.value.code
    return folder


@pytest.fixture
def own(run, monkeypatch):
    """Runs a command as it is run in a folder, with or without trust in the user's file."""

    def call(*arguments, folder, trust=""):
        sys.modules.pop("nets", None)
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.syspath_prepend(str(folder))
            patch.setenv("ONEPEAK_TRUST", trust)
            return run(*arguments)

    yield call
    sys.modules.pop("nets", None)


@pytest.fixture
def app_of(own, monkeypatch):
    """What `serve` and `inspect` would serve."""

    def call(*arguments, folder, trust=""):
        apps = []
        monkeypatch.chdir(folder)
        monkeypatch.setattr("onepeak.serving.http.serve_app", lambda app, **_: apps.append(app))
        status, _, errors = own(*arguments, "--quiet", "--device", "cpu", folder=folder, trust=trust)
        assert status == 0, errors
        return apps[0]

    return call


def client_of(app):
    return TestClient(app, base_url="http://localhost")


def test_it_is_trained_and_asked_where_its_file_is(own, table, tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    flags = ("--label", "grade", "--method", "elb", "--backbone", "nets:Wide", "--out", "model", "--logger", "none")
    assert own("train", table, *flags, *TINY, folder=tmp_path)[0] == 0
    status, _, errors = own("predict", "model", table, folder=tmp_path)
    assert (status, "set the environment variable ONEPEAK_TRUST=nets" in errors) == (2, True)
    status, answered, _ = own("predict", "model", table, "--csv", folder=tmp_path, trust="nets")
    assert (status, len(answered.splitlines())) == (0, 81)
    (tmp_path / "nets.py").write_text(NETS + "# another\n")
    with pytest.warns(UserWarning, match="The source file of nets:Wide has changed since the model was trained"):
        status, again, _ = own("predict", "model", table, "--csv", folder=tmp_path, trust="nets")
    assert (status, again) == (0, answered)
    (tmp_path / "elsewhere").mkdir()
    status, _, errors = own("predict", tmp_path / "model", table, folder=tmp_path / "elsewhere", trust="nets")
    assert status == 2
    assert "`backbone` must name a module that can be imported, got 'nets:Wide'" in errors


def test_a_comparison_trains_it_in_a_worker_and_knows_when_it_was_changed(own, table, tmp_path, no_pages):
    (tmp_path / "nets.py").write_text(NETS)
    flags = ("--label", "grade", "--backbone", "nets:Wide", "--folds", "1", "--out", "all", "--workers", "1")
    status, _, errors = own("compare", table, "--methods", "ce", *flags, *TINY, folder=tmp_path)
    assert status == 0, errors
    assert len(list(tmp_path.glob("all/runs/*/*/result.json"))) == 1
    (tmp_path / "nets.py").write_text(NETS.replace("GELU", "ReLU"))
    status, _, errors = own("compare", table, "--methods", "ce,elb", *flags, *TINY, folder=tmp_path)
    assert (status, "the source file of the backbone differs" in errors) == (2, True)


def test_it_is_served(own, app_of, place):
    image = (place / "photos" / "2" / "0.png").read_bytes()
    with client_of(app_of("serve", RUN, folder=place, trust="nets")) as client:
        kind = {"Content-Type": "image/png"}
        (answer,) = client.post("/v1/predict?evidence=true", content=image, headers=kind).json()["predictions"]
        assert client.get("/v1/model").json()["backbone"] == "nets:Maps"
    flags = ("photos/2/0.png", "--json", "--device", "cpu")
    wanted = json.loads(own("predict", RUN, *flags, folder=place, trust="nets")[1])
    assert answer["probs"] == pytest.approx(wanted["probs"], abs=1e-5)
    assert np.shape(answer["evidence"]) == (11, 11)


def test_a_run_is_inspected_as_it_lies_on_disk_where_its_code_is_not_trusted(own, app_of, place):
    with client_of(app_of("inspect", RUN, folder=place)) as client:
        first = html.unescape(client.get("/").text)
        assert "The page Try it and evidence maps are missing." in first
        assert REFUSED in first
        assert client.get("/try").status_code == 404
        samples = client.get("/v1/inspect/samples").json()
        assert (samples["kind"], samples["total"], len(samples["entries"][0]["log_probs"])) == ("pictures", 7, 3)
    with client_of(app_of("inspect", RUN, folder=place, trust="nets")) as client:
        assert "evidence maps are missing" not in client.get("/").text
        assert client.get("/try").status_code == 200
    status, output, errors = own("inspect", RUN, "--data", "photos", "--port", "0", folder=place)
    assert (status, output, REFUSED in errors) == (2, "", True)
