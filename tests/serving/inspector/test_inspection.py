import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from PIL import Image
from starlette.testclient import TestClient

from onepeak.data.datasets.biopsies import GRADES
from onepeak.data.source import DataSource
from onepeak.data.splits.copies import item_digests
from onepeak.errors import InputError
from onepeak.serving import column_importance, load
from onepeak.serving.evaluation_data import open_for
from onepeak.serving.http import create_app
from onepeak.serving.inspector import Inspection, inspector_router, open_inspection
from onepeak.serving.inspector.inspection import Filter, inspect_model
from onepeak.serving.inspector.pages import choice_page, overview_page, render, shell
from onepeak.training.familiarity import Familiarity
from onepeak.training.model_files import short
from report.whole_runs import write_whole_comparison, write_whole_run
from run_folders import write_comparison
from table_models import CALIBRATION, table_model
from trained_models import image_run


def test_the_first_page_is_ready_without_torch_or_pandas(tmp_path):
    """They take seconds to load, and the first page should not wait for them."""
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0})
    code = (
        "import sys; from pathlib import Path; from onepeak.cli.app import app\n"
        "from onepeak.serving.http import create_app, serve_app\n"
        "from onepeak.serving.inspector import inspector_router, open_inspection\n"
        f"shown = open_inspection(Path({str(tmp_path)!r}))\n"
        "create_app(None, extra_routers=[inspector_router(shown)])\n"
        "assert len(shown.overview.rows) == 2\n"
        "print([name for name in ('torch', 'pandas', 'scipy', 'matplotlib', 'plotly') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_samples_are_prepared_while_the_first_page_is_read(tmp_path, monkeypatch):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0})
    shown = open_inspection(tmp_path)
    prepared, times = threading.Event(), []
    monkeypatch.setattr(shown, "prepare", lambda: (times.append(1), Inspection.prepare(shown), prepared.set()))
    app = create_app(None, extra_routers=[inspector_router(shown)])
    with TestClient(app, base_url="http://localhost") as client:
        for _ in range(3):
            texts = [each["text"] for each in client.get("/v1/inspect/findings").json()]
            assert texts[0] == "Too few runs to name a winner (at least 3 needed)."
            assert texts[1].startswith("Consistency: with ELB")
        assert prepared.wait(timeout=60)
    assert times == [1], "once is enough"
    assert list(shown.posteriors.archive._samples) == ["ce"]


def test_what_cannot_be_prepared_is_told_to_who_asks(tmp_path):
    write_comparison(tmp_path, {"ce": [1.0]})  # without predictions
    shown = open_inspection(tmp_path)
    shown.prepare()
    with pytest.raises(InputError, match="`ce` must have runs whose predictions can be read, got none"):
        shown.posteriors.page(Filter(method="ce"), 1)


def test_a_run_of_a_comparison_is_shown_with_its_data_and_classes(compared):
    shown = open_inspection(compared / "runs" / "ce" / "split1-fold0")
    assert (shown.posteriors.kind, shown.parts, shown.classes) == ("pictures", ("1-0",), GRADES)


def test_data_that_were_moved_are_found_by_their_root(tmp_path):
    write_whole_run(tmp_path, method="ce")
    with pytest.raises(InputError, match=r"`root` has no effect for a single run\. Give `data`"):
        open_inspection(tmp_path, root="data")
    (tmp_path / "config.toml").write_text('data = "fgnet"\nroot = "/nowhere"\n')
    assert "nowhere" in open_inspection(tmp_path).posteriors.source.reason
    assert str(tmp_path / "here") in open_inspection(tmp_path, root=str(tmp_path / "here")).posteriors.source.reason


def test_a_models_answers_to_data_are_those_of_predict_and_of_the_run_that_made_it(compared):
    run = compared / "runs" / "elb" / "split0-fold0"
    data = DataSource(compared.parent / "data", order=GRADES).open()
    model = load(run)
    shown = inspect_model(model, run, data)
    kept = open_inspection(compared).posteriors.sample("0-0", 20, Filter(method="elb"))
    place = data.items.paths.index(kept.name)
    now = shown.posteriors.sample("0-0", place, Filter(method="elb"))
    assert (now.name, now.truth, now.kind, now.surroundings.total) == (kept.name, kept.truth, "pictures", 60)
    predictions, before = now.answers[0].answer, kept.answers[1].answer
    for found, raw in ((predictions, False), (before, True)):
        expected = model.predict([data.items.root / now.name], raw=raw)[0]
        assert np.exp(found.log_probs) == pytest.approx(expected.probs, abs=1e-4)
        own = (found.raw, found.predicted, found.interval, found.soi)
        assert own == (raw, expected.predicted_index, (expected.lower, expected.upper), pytest.approx(expected.soi))
    assert not now.answers[0].no_evidence
    assert overview_page(shown, shell(shown, can_try=True)).measured.startswith("On all of the data")


def test_the_map_of_a_models_answers_has_the_axes_of_its_training_images(compared):
    run, data = compared / "runs" / "elb" / "split0-fold0", DataSource(compared.parent / "data", order=GRADES).open()
    model = load(run)
    references = torch.rand(40, 128, generator=torch.Generator().manual_seed(0)).half()
    model.familiarity = Familiarity(references=references, threshold=0.5)
    shown = inspect_model(model, run, data)
    assert "Map" in shell(shown, can_try=False).places
    found = shown.posteriors.map(Filter(method="elb"))
    expected = model.answers([model.pixels(data.items.root / name) for name in data.items.paths])
    points = np.stack([found.columns["x"], found.columns["y"]], axis=1)
    np.testing.assert_allclose(points, expected.coordinates[:, :2], atol=1e-3)
    assert found.columns["distance"] == pytest.approx(expected.distance.tolist(), abs=0.01)


def test_images_that_cannot_be_read_are_left_out_and_those_unlike_the_training_are_told(compared, tmp_path):
    shutil.copytree(compared.parent / "data", tmp_path / "data")
    bad, black = sorted((tmp_path / "data").rglob("*.png"))[:2]
    bad.write_bytes(b"no image")
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(black)
    run, data = image_run().folder, DataSource(tmp_path / "data", order=GRADES).open()
    shown = inspect_model(load(run), run, data)
    assert "Left out, as not readable: 1 image." in shown.notes
    (note,) = [note for note in shown.notes if note.startswith("unlike the training")]
    assert note.endswith(f": {black}")
    page = shown.posteriors.page(Filter(method="elb"), 1)
    assert page.total == 59
    assert bad.name not in "".join(entry.name for entry in page.entries)
    assert [entry.truth for entry in page.entries] == [data.labels[entry.item] for entry in page.entries]


def test_samples_that_the_model_was_trained_on_are_marked_and_warned_of(compared):
    run = compared / "runs" / "elb" / "split0-fold0"
    data = DataSource(compared.parent / "data", order=GRADES).open()
    model = load(run)
    model.trained_items = frozenset(map(short, item_digests(data.items)[5:8]))
    shown = inspect_model(model, run, data)
    marked = [entry.item for entry in shown.posteriors.page(Filter(method="elb"), 1).entries if entry.trained_on]
    assert marked == [5, 6, 7]
    assert [shown.posteriors.sample("0-0", item, Filter(method="elb")).trained_on for item in (4, 5)] == [False, True]
    warning = "The model was trained on 3 of these 60 samples: the figures do not measure how well it does on new data."
    around = shell(shown, can_try=True)
    assert "Map" not in around.places
    for page in (overview_page(shown, around), *(choice_page(name, shown, around) for name in ("confusion", "labels"))):
        text = render(page)
        assert f'<p class="note warn">{warning}</p>' in text
        assert "all test samples" not in text


def test_rows_of_a_table_are_shown_by_their_values(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{20 + row},{'pale' if row % 2 else 'dark'},{-200 + row},grade {row % 6}" for row in range(30)]
    path.write_text("\n".join(["age,tone,dose,label", *lines]))
    model = table_model("elb", calibration=CALIBRATION)
    data = open_for(model, DataSource(path))
    shown = inspect_model(model, tmp_path, data)
    page = shown.posteriors.page(Filter(method="elb"), 1)
    assert page.kind == "rows"
    assert page.entries[3].features == {"age": "23", "tone": "pale", "dose": "-197"}
    predictions = model.predict(path)
    assert np.array([np.exp(entry.log_probs) for entry in page.entries]) == pytest.approx(
        predictions.probs.numpy(), abs=2e-5
    )
    assert shown.posteriors.sample("0-0", 3, Filter(method="elb")).answers[0].no_evidence == "There are no images."
    assert shown.posteriors.columns("elb", "0-0") is None  # the folder has no model
    (tmp_path / "model.safetensors").touch()
    shown.posteriors.maps.model = {tmp_path: model}.get
    assert shown.posteriors.columns("elb", "0-0") == column_importance(model, data, shuffles=3)
