import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from safetensors.torch import save_file

from cli.one_command import invoked
from onepeak.cli.check import check
from onepeak.cli.splits import splits
from onepeak.errors import InputError
from onepeak.methods.catalog import method
from onepeak.networks.build import NetworkSettings, build_network
from run_folders import write_predictions, write_run


@pytest.fixture
def run():
    """Runs `onepeak check`; gives what was printed."""

    def call(*arguments):
        result = invoked(check, *arguments)
        assert result.exit_code == 0, result.output
        return result

    return call


@pytest.fixture
def scans(tmp_path):
    """A list of 24 images of three classes: an exact copy with another label, and a near copy with the same one."""
    (tmp_path / "images").mkdir()
    lines = ["path,label"]
    for number in range(24):
        noise = np.random.default_rng(number).integers(40, 200, (6, 6, 3), np.uint8)
        image = Image.fromarray(noise).resize((64, 64), Image.Resampling.BICUBIC)
        image.save(tmp_path / f"images/{number:02}.png")
        lines.append(f"images/{number:02}.png,{number % 3}")
        if number == 5:
            image.resize((48, 48)).save(tmp_path / "images/small.jpg", quality=80)
    (tmp_path / "images/twin.png").write_bytes((tmp_path / "images/03.png").read_bytes())
    lines += ["images/small.jpg,2", "images/twin.png,1"]
    (tmp_path / "scans.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "scans.csv"


@pytest.fixture
def rows(tmp_path):
    """Sixty rows of three classes, two labels of which were flipped, and five folds whose test parts know better."""
    truth = np.arange(60) % 3
    labels = truth.copy()
    labels[[4, 30]] = [2, 1]  # 1 became 2, and 0 became 1
    labels[9] = 2  # 0 became 2: the farthest
    numbers = np.random.default_rng(0).normal(truth, 0.2)
    text = "\n".join(["x,label", *(f"{number},{label}" for number, label in zip(numbers, labels, strict=True))])
    (tmp_path / "rows.csv").write_text(text + "\n")
    probs = np.array([[0.8, 0.15, 0.05], [0.03, 0.94, 0.03], [0.05, 0.15, 0.8]])[truth]
    probs[[9, 30]] = [0.9, 0.08, 0.02]
    for fold in range(5):
        folder = write_run(tmp_path / "comparison", method="ce", fold=fold, num_classes=3)
        write_predictions(folder, np.log(probs), labels)
        parquet = pd.read_parquet(folder / "predictions.parquet")
        parquet[parquet["item"] % 5 == fold].to_parquet(folder / "predictions.parquet", index=False)
    return tmp_path / "rows.csv"


def test_copies_near_copies_and_conflicts_are_shown_and_written(run, scans, tmp_path):
    told = run(scans, "--cache", tmp_path / "cache", "--out", tmp_path / "new" / "found.csv").output.splitlines()
    assert "exact copies, different labels\timages/03.png, images/twin.png\t0, 1\t\t" in told
    (near,) = [line for line in told if line.startswith("near copies\t")]
    assert re.fullmatch(r"near copies\timages/05.png, images/small.jpg\t2\t\t9\d\.\d% alike", near)
    assert "26 samples: 1 group of exact copies (1 with different labels), 1 group of near copies" in told
    with (tmp_path / "new" / "found.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["finding"], row["kind"], row["conflict"], row["sample"], row["label"]) for row in written] == [
        ("1", "copies", "True", "images/03.png", "0"),
        ("1", "copies", "True", "images/twin.png", "1"),
        ("2", "near copies", "False", "images/05.png", "2"),
        ("2", "near copies", "False", "images/small.jpg", "2"),
    ]
    strict = run(scans, "--cache", tmp_path / "cache", "--similarity", 1, "--json").stdout
    assert [finding["kind"] for finding in json.loads(strict)["findings"]] == ["copies"]


def test_clean_data_have_no_findings(run, tmp_path):
    for label, number in (("1", 0), ("1", 1), ("2", 2), ("2", 3)):
        noise = np.random.default_rng(number).integers(0, 255, (9, 9, 3), np.uint8)
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise).save(tmp_path / "data" / label / f"{number}.png")
    told = run(tmp_path / "data", "--cache", tmp_path / "cache", "--out", tmp_path / "none.csv").output
    assert "4 samples: no groups of exact copies, no groups of near copies\n" in told
    assert len((tmp_path / "none.csv").read_text().splitlines()) == 1


def test_images_alike_in_a_backbone_are_near_copies(run, scans, tmp_path, monkeypatch):
    Image.open(scans.parent / "images/05.png").save(scans.parent / "images/other.bmp")  # the same pixels
    scans.write_text(scans.read_text() + "images/other.bmp,0\n")
    network = build_network(method("ce", num_classes=2), NetworkSettings(backbone="small"), seed=0)
    save_file({f"backbone.{name}": value for name, value in network.backbone.state_dict().items()}, tmp_path / "w.st")
    monkeypatch.setattr("onepeak.cli.check._FOR_NETWORK", 64)
    flags = ("--backbone", "small", "--weights", tmp_path / "w.st", "--device", "cpu", "--cache", tmp_path / "cache")
    found = json.loads(run(scans, *flags, "--similarity", 0.9999, "--json").stdout)["findings"]
    near = [(each["names"], each["conflict"]) for each in found if each["kind"] == "near copies"]
    assert near == [(["images/05.png", "images/other.bmp"], True)]


def test_flipped_labels_are_found_out_of_fold_the_farthest_first(run, rows, tmp_path):
    found = json.loads(run(rows, "--runs", tmp_path / "comparison", "--json").stdout)
    assert [(each["names"], each["labels"], each["suggested"]) for each in found["findings"]] == [
        (["row 11"], ["2"], "0"),
        (["row 6"], ["2"], "1"),
        (["row 32"], ["1"], "0"),
    ]
    assert found["notes"][-1] == "60 of 60 samples in the test parts of 5 runs"
    assert "likely wrong label\trow 11\t2\t0\t1.9 classes off" in run(rows, "--runs", tmp_path / "comparison").output


def test_texts_alike_but_for_capitals_and_spaces_are_copies(run, tmp_path):
    words = ["good  cheese", "Good cheese", "bad", "fine", "worse", "ok", "nice"]
    lines = [f"{word},{number},{number}" for number, word in enumerate(words, start=1)]
    (tmp_path / "reviews.csv").write_text("\n".join(["review,price,stars", *lines]) + "\n")
    flags = (tmp_path / "reviews.csv", "--text", "review", "--columns", "price", "--label", "stars")
    assert "exact copies, different labels\trow 2, row 3\t1, 2\t\t" in run(*flags).output
    assert (
        "exact copies with different labels: row 2 (1), row 3 (2)"
        in invoked(splits, *flags, "--splits", 1, "--folds", 1).output
    )


@pytest.mark.bad_input
def test_flags_and_runs_that_do_not_fit_are_refused(rows, scans, tmp_path):
    with pytest.raises(InputError, match="`--similarity` is for images"):
        invoked(check, rows, "--similarity", 0.9)
    with pytest.raises(InputError, match="`--backbone` has no effect without --weights"):
        invoked(check, scans, "--backbone", "resnet18")
    other = write_run(tmp_path / "other", method="ce", num_classes=2)
    write_predictions(other, np.log(np.full((60, 2), 0.5)), np.zeros(60))
    with pytest.raises(InputError, match="`--runs` must hold predictions for the classes of the data, 0, 1, 2, got"):
        invoked(check, rows, "--runs", tmp_path / "other")
    (tmp_path / "comparison" / "config.toml").write_text('[record]\ndata = "another"\n')
    with pytest.raises(InputError, match=r"its rows or labels have changed since .*comparison was made"):
        invoked(check, rows, "--runs", tmp_path / "comparison")
    (tmp_path / "comparison" / "config.toml").unlink()
    header, first, *others = rows.read_text().splitlines()
    rows.write_text("\n".join([header, *others, first]))  # the same rows in another order
    with pytest.raises(InputError, match="its rows or labels have changed since"):
        invoked(check, rows, "--runs", tmp_path / "comparison")
