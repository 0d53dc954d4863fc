"""`onepeak predict` with a model of images: long because one command has many inputs, forms and ways to fail."""

import contextlib
import csv
import errno
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cli.one_command import invoked, seen_on_a_terminal
from onepeak._core.files import NotWrittenError
from onepeak.cli import predict as command
from onepeak.errors import InputError
from onepeak.serving import Row, load
from onepeak.serving.output import OutputColumns
from trained_models import changeable, image_run, table_run


@pytest.fixture
def run():
    """Runs `onepeak predict`."""
    return partial(invoked, command.predict)


@pytest.fixture
def folder(tmp_path):
    """Five images at two depths, one of them of another shape, and a text."""
    (tmp_path / "scans" / "more").mkdir(parents=True)
    for number, image in enumerate(image_run().manifest.items.pixels[:5]):
        name = f"more/{number}.png" if number > 2 else f"{number}.png"
        Image.fromarray(image[: 40 if number == 1 else 64]).save(tmp_path / "scans" / name)
    (tmp_path / "scans" / "notes.txt").write_text("not a image")
    return tmp_path / "scans"


ON_CPU = "--device=cpu"


def test_a_list_elsewhere_is_answered_with_its_root_and_names_the_flag_without_it(run, folder, tmp_path):
    (tmp_path / "lists").mkdir()
    given = tmp_path / "lists" / "list.csv"
    given.write_text("path\nmore/3.png\n0.png\n")
    result = run(image_run().folder, given, "--root", folder, "--csv", ON_CPU)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    paths = [folder / "more" / "3.png", folder / "0.png"]
    assert (result.exit_code, result.stderr) == (0, "")
    assert [row["path"] for row in rows] == [str(path) for path in paths]
    assert [int(row["label"]) for row in rows] == load(image_run().folder).predict(paths).predicted_index.tolist()
    result = run(image_run().folder, given, "--csv", ON_CPU)
    assert result.exit_code == 1
    assert result.stderr.startswith("onepeak: 2 of 2 have no prediction")
    assert result.stderr.endswith("If the paths of the list start from another folder, name it with --root.\n")


def test_a_folder_gives_a_row_a_image_in_order(run, folder):
    result = run(image_run().folder, folder, "--csv", ON_CPU)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    names = ["0.png", "1.png", "2.png", "more/3.png", "more/4.png"]
    said = load(image_run().folder).predict([folder / name for name in names])
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [row["path"] for row in rows] == [str(folder / name) for name in names]
    assert [int(row["label"]) for row in rows] == said.predicted_index.tolist()
    assert [row["name"] for row in rows] == list(said.predicted_class)
    assert [float(row["log_prob_g3"]) for row in rows] == said.log_probs[:, 2].tolist()
    assert [float(row["p_g3"]) for row in rows] == pytest.approx(said.log_probs[:, 2].exp().tolist(), rel=1e-6)
    assert [float(row["soi"]) for row in rows] == pytest.approx(said.soi.tolist(), abs=1e-6)
    assert run(image_run().folder, folder, ON_CPU).stdout == result.stdout  # what a pipe gets by default
    assert run(image_run().folder, folder, "--out", os.devnull, ON_CPU).exit_code == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("classes", "told"),
    [
        (("1", "2", "3"), True),
        (("-1", "0", "1"), True),
        (("0", "1", "2"), False),
        (("low", "2"), False),
    ],
)
def test_classes_that_are_numbers_are_told_from_their_places(classes, told):
    notes = command.position_notes(classes)
    assert bool(notes) == told
    assert all(f"(0 is {classes[0]})" in note for note in notes)


def test_json_has_an_object_a_line_and_a_bad_file_is_one_with_its_error(run, folder):
    (folder / "1.png").write_bytes((folder / "0.png").read_bytes()[:500])
    result = run(image_run().folder, folder, folder / "gone.png", "--json", "--batch-size", 2, ON_CPU)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    first, second, third = result.stderr.splitlines()
    assert first == "onepeak: 2 of 6 have no prediction; the error column says why."
    assert second.startswith(f"  {folder / '1.png'}: cut off or damaged")
    assert third == f"  {folder / 'gone.png'}: there is no such file"
    assert [row["error"] is None for row in rows] == [True, False, True, True, True, False]
    assert rows[1]["error"].startswith("cut off or damaged")
    assert rows[5] == {**dict.fromkeys(rows[0]), "path": str(folder / "gone.png"), "error": "there is no such file"}
    ends = {"lower", "upper", "lower_name", "upper_name"}
    answer = {"headline", "predicted_class", "predicted_index", "name", "label", "probs", "log_probs", "soi"}
    assert set(rows[0]) == {"path", "unimodal", "paradoxical", "unlike", "distance", "refer", "error"} | answer | ends
    assert len(rows[0]["log_probs"]) == 8


@pytest.mark.parametrize(("name", "is_json"), [("a.csv", False), ("a.jsonl", True), ("new/a.json", True), ("a", False)])
def test_out_takes_its_format_from_the_name(run, folder, tmp_path, name, is_json):
    result = run(image_run().folder, folder, "--out", tmp_path / name, ON_CPU)
    lines = (tmp_path / name).read_text().splitlines()
    assert result.stdout == ""
    assert f"predictions: {tmp_path / name}" in result.stderr
    assert len(lines) == (5 if is_json else 6)
    assert lines[-1].startswith('{"path"' if is_json else str(folder))


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (KeyboardInterrupt(), contextlib.nullcontext()),
        (OSError(errno.ENOSPC, "No space left on device"), pytest.raises(NotWrittenError, match="No space left")),
        (ValueError("of a prediction"), pytest.raises(ValueError, match="of a prediction")),
    ],
)
def test_out_is_kept_whole_when_writing_does_not_end(run, folder, tmp_path, monkeypatch, failure, told):
    def half(rows, file, columns):
        file.write(str(next(rows).source))
        raise failure

    monkeypatch.setattr("onepeak.serving.output.write_csv", half)
    (tmp_path / "answers.csv").write_text("precious")
    with told:
        assert run(image_run().folder, folder, "--out", tmp_path / "answers.csv", ON_CPU).exit_code != 0
    assert (tmp_path / "answers.csv").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "scans"]


def test_columns_of_a_list_of_images_are_kept(run, folder):
    (folder / "list.csv").write_text("path,id,grade\nmore/3.png,01,g3\ngone.png,02,\n0.png,03,g1\n")
    arguments = (image_run().folder, folder / "list.csv", "--keep", "grade", "--keep", "id", ON_CPU)
    rows = [json.loads(line) for line in run(*arguments, "--json").stdout.splitlines()]
    assert [(row["grade"], row["id"]) for row in rows] == [("g3", "01"), (None, "02"), ("g1", "03")]
    assert rows[1]["error"] == "there is no such file"
    lines = seen_on_a_terminal(command.predict, *arguments).splitlines()
    (shown,) = [line for line in lines if "more/3.png" in line]
    assert [cell.strip() for cell in shown.split("│")[2:4]] == ["g3", "01"]


def test_what_is_redirected_is_utf_8_whatever_the_system_writes(tmp_path):
    model = changeable(table_run().folder, tmp_path / "model")
    description = json.loads((model / "onepeak.json").read_text())
    (model / "onepeak.json").write_text(json.dumps({**description, "classes": ["低", "中", "高"]}))
    (tmp_path / "rows.csv").write_text("tone,size\n1,0.5\n")
    code = "import typer; from onepeak.cli.predict import predict; typer.run(predict)"
    arguments = [sys.executable, "-c", code, str(model), str(tmp_path / "rows.csv"), "--csv", ON_CPU]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "cp1252"}
    result = subprocess.run(arguments, capture_output=True, env=environment, check=True)
    assert "p_低,p_中,p_高" in result.stdout.decode("utf-8")


def test_a_reader_that_has_enough_ends_it_quietly(folder):
    code = "import typer; from onepeak.cli.predict import predict; typer.run(predict)"
    many = [str(folder)] * 40
    arguments = [sys.executable, "-c", code, str(image_run().folder), *many, "--csv", "--batch-size=1", ON_CPU]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline().startswith(b"path,headline,predicted_class,predicted_index,")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (
            image_run,
            ("{0}", "--root", "{0}"),
            "`--root` is the folder of the images of a list, got .* which is not a list",
        ),
        (image_run, ("{0}", "--decimal", ","), "`--decimal` does nothing for a model of images: leave it out"),
        (image_run, ("{0}", "--keep", "id"), "`--keep` copies columns of a list or table"),
        (image_run, ("{0}/rows.csv",), "lists with a column `path`, got a table without one"),
        (image_run, ("{0}", "--out", "{0}"), "`--out` must be a file that can be written, got"),
        (
            image_run,
            ("{0}", "--combine", "mean"),
            "`--combine` does nothing without --group: leave it out",
        ),
        (table_run, ("{0}/rows.csv", "--root", "{0}"), "`--root` does nothing for a model of a table: leave it out"),
        (table_run, ("{0}", "{0}"), "must be one CSV or parquet file, as the model reads a table, got 2"),
        (table_run, ("{0}/rows.csv", "--decide", "cost"), "must be given together, got `decide` 'cost' without `cost`"),
        (table_run, ("{0}/rows.csv", "--keep", "label"), "names differ from those of the predictions, got 'label'"),
    ],
)
def test_what_has_no_use_is_refused(run, folder, model, arguments, message):
    (folder / "rows.csv").write_text("size,tone,label\n1,dark,low\n")
    with pytest.raises(InputError, match=message):
        run(model().folder, *(each.format(folder) for each in arguments), ON_CPU)


@pytest.mark.bad_input
def test_wrong_usage_ends_with_exit_status_two(run, folder):
    both = run(image_run().folder, folder, "--csv", "--json")
    assert both.exit_code == 2
    assert "--csv and --json are two formats" in both.stderr
    assert run(image_run().folder).exit_code == 2
    assert run(image_run().folder, folder, "--batch-size", 0).exit_code == 2


def test_intervals_decisions_and_projection_are_flags(run, folder):
    model, names = image_run().folder, ["0.png", "1.png", "2.png"]
    paths = [folder / name for name in names]
    flags = ("--alpha", 0.5, "--decide", "mean", "--project")
    rows = [json.loads(line) for line in run(model, *paths, "--json", ON_CPU, *flags).stdout.splitlines()]
    said = load(model).predict(paths, alpha=0.5, decide="mean", project=True)
    assert [row["label"] for row in rows] == said.predicted_index.tolist()
    assert [[row["lower"], row["upper"]] for row in rows] == said.intervals.tolist()
    assert [(row["lower_name"], row["upper_name"]) for row in rows] == list(said.interval_names)
    assert [row["unimodal"] for row in rows] == [True] * 3
    raw = [json.loads(line) for line in run(model, *paths, "--json", ON_CPU, "--raw").stdout.splitlines()]
    assert [row["log_probs"] for row in raw] == load(model).predict(paths, raw=True).log_probs.tolist()


def test_images_unlike_the_training_are_told_at_the_end_and_fail_where_that_is_strict(run, folder, tmp_path):
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(folder / "black.png")
    answers = tmp_path / "answers.csv"
    (unlike,) = load(image_run().folder).predict(folder / "black.png").unlike
    by = ", ".join(f"{name} (1)" for name in unlike)
    note = (
        f"Note: unlike the training data, do not rely on such predictions: 1 of 6 images, by {by}: {folder}/black.png\n"
    )
    result = run(image_run().folder, folder, "--out", answers, ON_CPU)
    assert (result.exit_code, result.stderr) == (0, f"{note}predictions: {answers}\n")
    written = answers.read_text()
    said = {row["path"]: row["unlike"] for row in csv.DictReader(io.StringIO(written))}
    assert {path: cell for path, cell in said.items() if cell} == {f"{folder}/black.png": "; ".join(unlike)}
    answers.unlink()
    result = run(image_run().folder, folder, "--out", answers, "--strict", ON_CPU)
    assert (result.exit_code, answers.read_text()) == (1, written)
    last = "onepeak: exit status 1 (--strict): a prediction is missing or an input is unlike the training.\n"
    assert result.stderr == f"{note}predictions: {answers}\n{last}"
    assert run(image_run().folder, folder, "--csv", "--strict", "--quiet", ON_CPU).stderr == note + last
    assert run(image_run().folder, folder, "--csv", "--quiet", ON_CPU).stderr == ""


def test_json_names_what_is_unlike_and_null_is_where_nobody_knows_and_strict_says_so(run, folder, tmp_path):
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(folder / "black.png")
    older = changeable(image_run().folder, tmp_path / "older")
    description = json.loads((older / "onepeak.json").read_text())
    (older / "onepeak.json").write_text(json.dumps({**description, "image_range": None}))
    (folder / "bad.png").write_text("no image")
    request = ("--json", ON_CPU)
    told = [json.loads(line)["unlike"] for line in run(image_run().folder, folder, *request).stdout.splitlines()]
    assert told[:3] == [[], [], []]
    assert told[3] is None  # that has no answer
    assert "contrast" in told[4]
    (folder / "bad.png").unlink()
    note = (
        "Note: cannot check whether images are unlike the training: the model is from an earlier version, or was "
        "trained on too few\n"
    )
    for flags, expected in (((), ""), (("--strict",), note), (("--strict", "--quiet"), note)):
        result = run(older, folder, *request, *flags)
        assert (result.exit_code, result.stderr) == (0, expected)
        assert [json.loads(line)["unlike"] for line in result.stdout.splitlines()] == [None] * 6


def test_strict_fails_with_one_bad_file_and_without_any_doubt_not(run, folder):
    assert run(image_run().folder, folder, "--csv", "--strict", ON_CPU).exit_code == 0
    (folder / "bad.png").write_text("no image")
    result = run(image_run().folder, folder, "--csv", "--strict", ON_CPU)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 7
    assert result.stderr.endswith("a prediction is missing or an input is unlike the training.\n")


ROW = Row(
    source="a.png",
    predicted_index=1,
    predicted_class="high",
    log_probs=(-1.0, -0.5),
    soi=1.0,
    unimodal=True,
    paradoxical=False,
)
BAD = Row(source="bad.png", error="there is no such file")


@pytest.fixture
def printed_table(capsys):
    """The cells of the table, its header first, and what is printed below it."""

    def call(rows, actions=()):
        columns = OutputColumns(source_name="path", classes=("low", "high"), actions=actions)
        command._print_rows(rows, sys.stdout, columns)
        lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
        return [line for line in lines if len(line) > 1], [line[0] for line in lines if len(line) == 1]

    return call


def test_a_table_stops_somewhere_and_says_how_many_more_there_are(printed_table):
    (_, *rows), below = printed_table([replace(ROW, source=f"{number}.png") for number in range(1300)])
    assert [row[0] for row in rows] == [f"{number}.png" for number in range(200)]
    assert below == ["... and 1,100 more rows (--csv, --json and --out give all)."]
    assert printed_table([ROW] * 200)[1] == []


def test_what_is_unlike_the_training_is_a_column_only_where_there_is_something(printed_table):
    usual, odd = replace(ROW, unlike=()), replace(ROW, unlike=("contrast", "grain"))
    (header, *rows), _ = printed_table([usual, odd, BAD])
    assert (header[-1], [row[-1] for row in rows]) == (
        "unlike",
        ["", "contrast; grain", "error: there is no such file"],
    )
    assert rows[0] == ["a.png", "high", "high", "0.607", "1.000", "yes", ""]
    assert rows[2][:2] == ["bad.png", "error: there is no such file"]
    (header, *rows), _ = printed_table([usual, odd], ("wait", "operate"))
    assert header[-2:] == ["action", "unlike"]
    assert [row[-2:] for row in rows] == [["operate", ""], ["ask a person", "contrast; grain"]]
    (header, *_), _ = printed_table([usual, ROW, BAD])
    assert header == ["path", "prediction", "most likely", "p", "side order", "one peak"]
