"""Flags that `train` or `compare` cannot follow: one line that names them, exit 2, and nothing is trained."""

import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

pytestmark = pytest.mark.bad_input
BOTH, TRAIN, COMPARE = ("train", "compare"), ("train",), ("compare",)

OF_A_TABLE = [
    (BOTH, ("--epochs", 0), "onepeak: `--epochs` must be an integer >= 1, got 0"),
    (BOTH, ("--batch-size", 0), "onepeak: `--batch-size` must be an integer >= 1, got 0"),
    (BOTH, ("--lr", -1), "onepeak: `--lr` must be a finite number > 0, got -1.0"),
    (BOTH, ("--select", "maee"), "onepeak: Unknown `--select` 'maee'. Did you mean 'mae'?"),
    (
        BOTH,
        ("--class-weight", "rare"),
        "`--class-weight` must be 'balanced', 'lds' or one number per class, got 'rare'",
    ),
    (
        BOTH,
        ("--class-weight", "1,2"),
        "`--class-weight` must be 'balanced', 'lds' or 4 numbers, one per class, got 2 n",
    ),
    (BOTH, ("--patience", 0), "`--patience` must be an integer >= 1, got 0"),
    (BOTH, ("--patience", 2, "--select", "last"), "`--patience` must be left out if `select` is 'last'"),
    (BOTH, ("--backbone", "resnet18"), "`backbone` must be mlp for a table, got 'resnet18'"),
    (BOTH, ("--network", "hiden=8"), "Unknown setting 'network.hiden'. Did you mean 'network.hidden'?"),
    (BOTH, ("--network", "kmax=0.2"), "`kmax` does nothing with backbone='mlp'"),
    (BOTH, ("--network", "hidden"), "`--network` must be name=value, got 'hidden'"),
    (BOTH, ("--recipe", "gone.toml"), "gone.toml: No such file"),
    (BOTH, ("--label", "grad"), "'grad'. Did you mean 'grade'?"),
    (BOTH, ("--protocol", "kfolds"), "Did you mean 'kfold'?"),
    (BOTH, ("--precision", "fp23"), "Unknown `--precision` 'fp23'"),
    (BOTH, ("--device", "tpu"), "Unknown `--device` 'tpu'"),
    (BOTH, ("--logger", "tensorbord"), "`logger` must be"),
    (COMPARE, ("--logger", "tensorbord", "--dry-run"), "`logger` must be none, tensorboard, csv, wandb, mlflow or"),
    (BOTH, ("--weights", "gone.pt"), "`--weights` must be a file, or pretrained for timm's own, got 'gone.pt'"),
    (BOTH, ("--bits", 12), "`--bits` does nothing for data other than image files, got 12: leave it out.\n"),
    (TRAIN, ("--fold", 99), "`--fold` must be one of the protocol's folds (0 to 4), got 99"),
    (TRAIN, ("--precision", "fp16"), "`precision` must be fp32 or bf16 on a CPU, got 'fp16'"),
    (COMPARE, ("--methods", "ce,ebl"), "Unknown method 'ebl'. Did you mean 'elb'?"),
    (COMPARE, ("--methods", "ce,ce"), "different labels, got 'ce' twice"),
    (COMPARE, ("--against", "ebl"), "Unknown row for `--against` 'ebl'. Did you mean 'elb'? Known: ce, elb."),
    (COMPARE, ("--alone", "ebl"), "Unknown row for `--alone` 'ebl'. Did you mean 'elb'? Known: ce, elb."),
    (COMPARE, ("--alone", "ce"), "`--alone` must be another row than the one it is compared with, got 'ce'"),
    (COMPARE, ("--splits", 0), "`--splits` must be an integer >= 1, got 0"),
    (COMPARE, ("--executor", "slurm"), "Unknown `--executor` 'slurm'"),
    (COMPARE, ("--pack", "x"), "`--pack` must be auto or an integer >= 1, got 'x'"),
    (
        COMPARE,
        ("--gpus-per-run", 0.5),
        "`--gpus-per-run` does nothing with --executor local: leave it out, or use --exe",
    ),
    (
        COMPARE,
        ("--executor", "ray", "--threads", 2),
        "`--threads` does nothing with --executor ray: give --cpus-per-run",
    ),
    (COMPARE, ("--executor", "ray", "--address", "x"), "`--address` must be auto, local, host:port or"),
    (COMPARE, ("--workers", 0), "`--workers` must be an integer >= 1, got 0"),
]
OF_IMAGES = [
    (BOTH, ("--backbone", "resnet19"), "Unknown backbone 'resnet19'. Did you mean 'resnet18'?"),
    (BOTH, ("--backbone", "mlp"), "for images"),
    (BOTH, ("--network", "kmaks=0.5"), "Did you mean 'network.kmax'?"),
    (BOTH, ("--network", "kmax=7"), "`kmax` must be"),
    (BOTH, ("--protocol", "holdouts"), "Did you mean 'holdout'?"),
    (BOTH, ("--recipe", "nesterov.toml"), "`nesterov` must be false without SGD"),
    (TRAIN, ("--fold", 9), "`--fold` must be one of the protocol's folds (0 to 4), got 9"),
]


def each(cases):
    return [
        pytest.param(name, *case, id=f"{name} {' '.join(map(str, case[0]))}")
        for names, *case in cases
        for name in names
    ]


@pytest.fixture
def refused(run, tmp_path, monkeypatch):
    """What a command says when it refuses."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        status, output, errors = run(*words, "--quiet", "--out", "out", "--cache", "cache")
        assert (status, output) == (2, ""), errors
        assert errors.count("\n") == 1
        assert not (tmp_path / "out" / "runs").exists()
        assert not (tmp_path / "out" / "result.json").exists()
        assert not (tmp_path / "cache").exists()
        return errors

    return call


@pytest.mark.parametrize(("command", "flags", "message"), each(OF_A_TABLE))
def test_a_flag_that_does_not_suit_a_table_is_named(refused, table, command, flags, message):
    methods = ("--method", "elb") if command == "train" else ("--methods", "ce,elb", "--folds", 1)
    assert message in refused(command, table, "--label", "grade", *methods, "--epochs", 2, "--device", "cpu", *flags)


@pytest.mark.parametrize(("command", "flags", "message"), each(OF_IMAGES))
def test_what_is_wrong_is_told_before_images_are_read(refused, tmp_path, command, flags, message):
    for number in range(12):
        path = tmp_path / "scans" / str(number % 2) / f"{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((16, 16, 3), number, dtype=np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:60])  # who reads it stumbles
    (tmp_path / "nesterov.toml").write_text("nesterov = true")
    assert message in refused(command, "scans", *flags)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--method", "ebl"), "Unknown method 'ebl'. Did you mean 'elb'?"),
        (("--method", "elb", "--variant", "published"), "as_published"),
        (("--method", "elb", "--set", "t=0"), "`t` must be a finite number > 0, got 0"),
        (("--method", "elb:t=0"), "`t` must be a finite number > 0, got 0"),
        (("--method", "elb", "--set", "tt=1"), "'tt'"),
        (("--method", "elb", "--set", "nonsense"), "`--set` must be name=value, got 'nonsense'"),
        (("--method", "elb"), "There is no file or folder"),  # which comes second
    ],
)
def test_a_wrong_method_is_told_before_any_data_is_read(refused, flags, message):
    assert message in refused("train", "nowhere.csv", *flags)


@pytest.mark.parametrize("command", BOTH)
def test_a_folder_of_other_files_is_refused_before_data_are_read_and_left_as_it_is(run, tmp_path, command):
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "thesis.txt").write_text("mine")
    for more in ((), ("--resume",)) if command == "train" else ((),):
        status, _, errors = run(command, tmp_path / "nowhere.csv", "--out", tmp_path / "pics", *more)
        told = f"`--out` {tmp_path / 'pics'} holds other files (thesis.txt): give a new or an empty folder."
        assert (status, told in errors) == (2, True), errors
    assert [path.name for path in (tmp_path / "pics").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("command", BOTH)
def test_a_flag_that_does_nothing_is_refused_even_beside_the_file_of_a_comparison(refused, table, tmp_path, command):
    of_compare = f'data = "{table}"\nlabel = "grade"\nmethods = ["ce"]\n[recipe]\nmomentum = 0.9\n'
    content = of_compare if command == "compare" else "[recipe]\nmomentum = 0.9\nbits = 12\n"
    config = tmp_path / "config.toml"
    config.write_text(f"{content}[record]\nitems = 80\n")
    words = ("compare", config) if command == "compare" else ("train", table, "--label", "grade", "--recipe", config)
    told = "onepeak: `--bits` does nothing for data other than image files, got 12: leave it out.\n"
    assert refused(*words, "--bits", 12, "--device", "cpu") == told


def test_all_unknown_keys_of_a_file_are_answered_with_the_nearest(run, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text('data = "biopsies"\nmethod = ["ce"]\nsplit = 3\nmethods = ["ce"]')
    status, output, errors = run("compare", plan, "--out", tmp_path / "out")
    assert (status, output) == (2, "")
    assert re.findall(rf"{plan}: Unknown setting '(\w+)'\. Did you mean '(\w+)'\?", errors) == [
        ("method", "methods"),
        ("split", "splits"),
    ]


def test_what_does_not_suit_the_data_is_told_with_its_file_and_key_unless_a_flag_says_it(run, table, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[recipe]\nmomentum = 0.9\nclass_weight = [1, 2]\n")
    errors = run("train", table, "--label", "grade", "--recipe", path, "--class-weight", "1,2,3")[2]
    assert errors.startswith(f"onepeak: {path}: recipe.momentum: `momentum` does nothing with optimizer='adamw', got")
    assert "\n`--class-weight` must be 'balanced', 'lds' or 4 numbers, one per class, got 3 numbers." in errors


def test_a_table_without_a_column_of_labels_asks_for_it(refused, table):
    errors = refused("train", table)
    assert "must be named with `--label`" in errors
    assert ", ".join(pd.read_csv(table).columns) in errors
