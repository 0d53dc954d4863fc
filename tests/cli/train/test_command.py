"""`onepeak train` as its user meets it: long because one command has many ways to be refused, stopped and resumed."""

import contextlib
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import onepeak
from forked import Forked
from onepeak.experiment.folder import claim
from run_folders import RUN_FILES

CONTRACT = {"method", "variant", "dataset", "split", "fold", "seed", "epochs", "best_epoch", "seconds", "metrics"}
"""What every reader of `result.json` may rely on."""

FILES = RUN_FILES | {".claim"}  # by which a process keeps others out

OTHERS = [
    (("--epochs", 20), "epochs = 2, not 20"),
    (("--method", "ce", "--lr", 0.5), "method = elb, not ce; lr = 0.003, not 0.5"),
    (("--seed", 1, "--fold", 2), "fold = 0, not 2; seed = 0, not 1"),
    (("--network", "hidden=8"), "hidden = (64, 64), not (8,)"),
]
"""Flags other than those of a finished run, and what is said of them."""

LONG = 60
"""Epochs that take about a second: time enough to be killed among them."""


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Twenty-four images of six patients, the first two of which are the same; a split that parts every patient."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (24, 16, 16, 3), np.uint8)
    pixels[1] = pixels[0]
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(folder / f"{number:02}.png")
    names = [f"{number:02}.png" for number in range(24)]
    rows = pd.DataFrame({"path": names, "label": np.arange(24) // 2 % 3})
    rows.to_csv(folder / "single.csv", index=False)
    rows.assign(group=[f"patient{number // 4}" for number in range(24)]).to_csv(folder / "scans.csv", index=False)
    parts = ["train", "test", "valid", "train"] * 6
    pd.DataFrame({"path": names, "part": parts}).to_csv(folder / "elsewhere.csv", index=False)
    (folder / "tiny.toml").write_text("epochs = 1\n[resize]\nshort_side = 16\n[augment]\ncrop = 16\n")
    return folder


def flags_of(table, out, *more):
    """A training of seconds on the table; what comes later replaces what came before."""
    shared = ["train", table, "--label", "grade", "--method", "elb", "--epochs", 2, "--device", "cpu", "--quiet"]
    return [str(flag) for flag in (*shared, "--logger", "none", "--out", out, *more)]


def flags_of_images(folder, tmp_path, *more, data="single.csv"):
    """A training of one epoch on the images."""
    where = ["--recipe", folder / "tiny.toml", "--cache", tmp_path / "cache", "--out", tmp_path / "run"]
    how = ["--method", "ce", "--backbone", "small", "--device", "cpu", "--logger", "none", "--quiet"]
    return [str(flag) for flag in ("train", folder / data, *where, *how, *more)]


def wait_for(path, process):
    """Waits until a process has written a file that is not empty."""
    end = time.monotonic() + 90
    while not (path.exists() and path.stat().st_size):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"{path} was not written in time"
        time.sleep(0.01)


def history_of(folder):
    return pd.read_csv(folder / "history.csv").drop(columns="seconds")


def test_a_table_is_trained_to_a_model_and_its_records(table, tmp_path, run):
    out = tmp_path / "model"
    status, output, errors = run(*flags_of(table, out, "--logger", "csv"))
    assert (status, errors) == (0, "")

    result = json.loads((out / "result.json").read_text())
    assert result.keys() >= CONTRACT
    assert [result[key] for key in ("method", "dataset", "epochs", "fold", "seed")] == ["elb", "grades", 2, 0, 0]
    test = result["metrics"]["test"]
    (line,) = [line for line in output.splitlines() if "MAE" in line]
    for words in (f"MAE {test['mae']:.3f}", f"SOI {test['soi_predicted']:.1%}", "chance 75.0%"):
        assert words in line
    assert str(out) in output

    assert {path.name for path in out.iterdir()} == FILES | {"logs"}
    (log,) = (out / "logs").rglob("*.csv")
    history = pd.read_csv(out / "history.csv")
    assert pd.read_csv(log)["valid_mae"].tolist() == history["valid_mae"].tolist()
    assert len(history) == 2
    rows = pd.read_parquet(out / "predictions.parquet").query("part == 'test'")
    assert (rows["label"] - rows["predicted"]).abs().mean() == pytest.approx(test["mae"])
    assert onepeak.load(out).classes == ("0", "1", "2", "3")

    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    status, output, errors = run(*flags_of(table, out))
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert "holds a finished run" in errors
    (out / "checkpoint.pt").write_bytes(b"")  # left by a kill between the result and the end
    status, output, errors = run(*flags_of(table, out, "--resume"))
    assert status == 0
    assert "already finished" in output + errors
    assert run(*flags_of(table, out, "--resume", "--network", "hidden=64,64", "--set", "t=1.5"))[2] == (
        f"onepeak: `--out` {out} holds a finished run with method_settings = {{}}, not {{'t': 1.5}}: give another "
        f"--out (to start from its weights: --weights {out / 'model.safetensors'}).\n"
    )
    for flags, told in OTHERS:
        status, output, errors = run(*flags_of(table, out, "--resume", *flags))
        assert (status, output, errors.count("\n")) == (2, "", 1)
        assert f"holds a finished run with {told}: give another" in errors
    assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_a_table_has_one_thread_and_images_all_unless_others_are_asked_for(table, images, tmp_path, run, monkeypatch):
    request = []
    monkeypatch.setattr(torch, "set_num_threads", request.append)
    assert run(*flags_of_images(images, tmp_path, "--allow-leak"))[0] == 0
    assert request == []
    for name, flags in (("one", ()), ("three", ("--threads", 3))):
        assert run(*flags_of(table, tmp_path / name, "--epochs", 1, *flags))[0] == 0
    assert request == [1, 3]


def test_the_data_the_plan_and_what_to_know_are_told_on_stderr(run, table, tmp_path):
    flags = [flag for flag in flags_of(table, tmp_path / "new", "--resume") if flag != "--quiet"]
    status, output, errors = run(*flags)
    assert status == 0
    for told in (
        "0 < 1 < 2 < 3",
        "48 / 16 / 16 to train",
        "2 epochs, cpu",
        f"{tmp_path / 'new'} holds nothing to resume",
    ):
        assert told in errors
    assert ("MAE" in output, "MAE" in errors) == (True, False)
    told = "Note: 90 % intervals were set on 16 validation samples: real coverage is likely between 83 and 100 %\n"
    assert errors.count("intervals") == errors.count(told) == 1
    assert "coverage" not in run("predict", tmp_path / "new", table, "--csv")[2]


@pytest.mark.bad_input
def test_a_killed_run_goes_on_when_asked_and_ends_as_one_that_was_not(table, tmp_path, run):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = Forked("onepeak", *flags_of(table, killed, "--epochs", LONG))
    try:
        wait_for(killed / "history.csv", process)  # which is written after the checkpoint
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (killed / "result.json").exists()
    brought = tmp_path / "brought"  # as by a copy without hidden files, and with notes
    brought.mkdir()
    for name in ("checkpoint.pt", "history.csv"):
        shutil.copy(killed / name, brought)
    (brought / "notes.txt").write_text("on my run")
    assert run(*flags_of(table, brought, "--epochs", LONG, "--resume"))[0] == 0

    status, output, errors = run(*flags_of(table, killed, "--epochs", LONG))
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert "holds an unfinished run" in errors
    assert "--resume" in errors
    status, _, errors = run(*flags_of(table, killed, "--epochs", LONG, "--lr", 0.5, "--resume"))
    assert status == 2
    assert "belongs to a run with other settings (recipe.lr was 0.003, is now 0.5)" in errors
    so_far = history_of(killed)
    assert 1 <= len(so_far) < LONG  # what was done can be looked at

    going_on = [flag for flag in flags_of(table, killed, "--epochs", LONG, "--resume") if flag != "--quiet"]
    status, _, errors = run(*going_on)
    assert status == 0
    done = re.search(rf"resuming after epoch (\d+) of {LONG}", errors)
    assert done is not None
    assert len(so_far) <= int(done[1]) < LONG
    assert run(*flags_of(table, whole, "--epochs", LONG))[0] == 0
    pd.testing.assert_frame_equal(history_of(killed), history_of(whole), check_exact=True)
    assert (killed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert {path.name for path in killed.iterdir()} == FILES


def test_control_c_leaves_a_checkpoint_and_says_how_to_go_on(table, tmp_path):
    out = tmp_path / "stopped"
    process = Forked("onepeak", *flags_of(table, out, "--epochs", 100_000))
    try:
        wait_for(out / "checkpoint.pt", process)
        for _ in range(3):  # what is written in C can lose an interruption
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(TimeoutError):
                output, errors = process.communicate(timeout=20)
                break
    finally:
        process.kill()
    assert (process.returncode, output, errors.count("\n")) == (1, "", 1), errors
    assert "stopped" in errors.lower()
    assert errors.rstrip().endswith(f"run: onepeak {shlex.join(flags_of(table, out, '--epochs', 100_000))} --resume")
    state = torch.load(out / "checkpoint.pt", weights_only=True)
    assert len(state["history"]) == state["epoch"] >= 1
    assert not (out / "result.json").exists()
    assert not list(out.glob(".*.part"))


def test_flags_come_before_the_recipe_and_settings_reach_the_method(run, table, tmp_path):
    (tmp_path / "mine.toml").write_text('epochs = 9\nlr = 0.02\nschedule = "constant"\nwarmup_epochs = 0\n')
    more = ("--recipe", tmp_path / "mine.toml", "--select", "rps", "--set", "t=2.5", "--fold", 3, "--seed", 7)
    more += ("--network", "hidden=8,4", "--network", "dropout=0.25", "--class-weight", "1,1,2.5,3")
    status, output, _ = run(*flags_of(table, tmp_path / "run", *more))
    assert status == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert output.startswith(f"test: rps {result['metrics']['test']['rps']:.3f}, MAE ")
    assert [result[key] for key in ("epochs", "selected_by", "fold", "seed")] == [2, "rps", 3, 7]
    assert (result["method_settings"], result["class_weight"]) == ({"t": 2.5}, [1, 1, 2.5, 3])
    network = onepeak.load(tmp_path / "run").description.network
    assert (network.hidden, network.dropout) == ((8, 4), 0.25)
    assert history_of(tmp_path / "run")["lr"].tolist() == [0.02, 0.02]


def test_a_method_may_have_variant_and_settings_behind_colons_as_in_compare_and_flags_come_first(run, table, tmp_path):
    def trained(name, *more):
        flags = flags_of(table, tmp_path / name, "--epochs", 1, *more)
        assert run(*flags)[0] == 0
        result = json.loads((tmp_path / name / "result.json").read_text())
        return result["method"], result["variant"], result["method_settings"]

    more = ("--method", "elb:t=2:growth=1.01", "--set", "t=3", "--set", "t_max=4")
    assert trained("both", *more) == ("elb", "corrected", {"t": 3, "growth": 1.01, "t_max": 4})
    assert trained("published", "--method", "ld:as_published") == ("ld", "as_published", {})
    assert trained("corrected", "--method", "ld:as_published", "--variant", "corrected") == ("ld", "corrected", {})


@pytest.mark.bad_input
@pytest.mark.parametrize("more", [(), ("--resume",)])
def test_what_a_run_left_that_was_killed_in_its_first_epoch_is_in_no_ones_way(run, table, tmp_path, more):
    with claim(tmp_path / "run"):  # and a logger that keeps its files as it likes
        status, _, errors = run(*flags_of(table, tmp_path / "run"))
        told = f"`--out` {tmp_path / 'run'} is in use by another process: wait, or give another"
        assert (status, told in errors) == (2, True)
        (tmp_path / "run" / ".gitkeep").touch()
        (tmp_path / "run" / "logs").mkdir()
        (tmp_path / "run" / "logs" / "events").write_text("begun")
    status, _, errors = run(*flags_of(table, tmp_path / "run", "--epochs", 1, *more))
    assert status == 0, errors


def test_training_that_runs_away_exits_with_1_and_names_epoch_and_step(run, table, tmp_path):
    more = ("--lr", "1e30", "--batch-size", 16)
    status, output, errors = run(*flags_of(table, tmp_path / "run", *more))
    assert (status, output, errors.count("\n")) == (1, "", 1), errors
    assert "at epoch 0, step 1" in errors
    assert "learning rate" in errors


@pytest.fixture
def damaged(images, tmp_path):
    """The images, one of which is cut off: whoever reads them stumbles over it."""
    folder = shutil.copytree(images, tmp_path / "damaged")
    (folder / "07.png").write_bytes((folder / "07.png").read_bytes()[:200])
    return folder


def test_a_bad_image_is_refused_by_the_flag_that_leaves_it_out(run, damaged, tmp_path):
    status, _, errors = run(*flags_of_images(damaged, tmp_path))
    assert status == 2
    assert "1 of 24 images cannot be read:\n  07.png: cut off or damaged" in errors
    assert "leave them out with --skip-bad." in errors
    (damaged / "09.png").unlink()
    status, _, errors = run(*flags_of_images(damaged, tmp_path))
    assert "1 of 24 images does not exist" in errors
    assert "(--root). Or leave the rows out with --skip-bad." in errors
    flags = flags_of_images(damaged, tmp_path, "--skip-bad", data="scans.csv")
    status, _, errors = run(*(flag for flag in flags if flag != "--quiet"))
    assert status == 0, errors
    assert "Note: left out 1 image that cannot be read: 07.png: cut off or damaged" in errors
    assert "Note: left out 1 of 24 rows: no such image, 09.png (row 11)" in errors
    assert "Warning" not in errors  # of Python


@pytest.mark.parametrize(
    ("data", "shared"),
    [
        ("scans.csv", "train and test share 6 groups (6 samples of test): patient0, patient1, patient2, ..."),
        ("single.csv", "train and test share 1 image, byte for byte (1 sample of test): 01.png"),
    ],
)
def test_a_split_that_leaks_is_refused_and_where_allowed_recorded(run, images, tmp_path, data, shared):
    flags = flags_of_images(images, tmp_path, "--protocol", images / "elsewhere.csv", data=data)
    status, output, errors = run(*flags)
    assert (status, output, errors.count("\n")) == (2, "", 1), errors
    assert shared in errors
    assert "--allow-leak" in errors
    assert not (tmp_path / "run" / "result.json").exists()

    assert run(*flags, "--allow-leak")[0] == 0
    assert shared in json.loads((tmp_path / "run" / "result.json").read_text())["shared_by_parts"]


def test_a_mistake_is_told_before_the_slow_imports(tmp_path):
    told = "from onepeak.cli import main\nimport sys\ntry:\n    main()\nfinally:\n    print('lightning' in sys.modules)"
    words = ("train", tmp_path / "nowhere.csv", "--method", "elb", "--out", tmp_path / "x")
    done = subprocess.run([sys.executable, "-c", told, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "False\n")
    assert "There is no file or folder" in done.stderr
