"""Decimal commas, as `train`, `compare`, `splits`, `predict` and `evaluate` meet them."""

import json

import pandas as pd
import pytest

import onepeak
from onepeak.data.source import DataSource

LOOK = ("--label", "grade", "--epochs", 2, "--device", "cpu")


@pytest.fixture
def german(table, tmp_path):
    """The table as a German Excel writes it."""
    rows = pd.read_csv(table).round({"size": 4, "tone": 4})
    rows.to_csv(tmp_path / "points.csv", index=False)
    rows.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    return tmp_path / "german.csv"


@pytest.fixture
def doubtful(tmp_path):
    """Numbers of three decimals throughout, which may be thousands."""
    lines = [f"{1 + place % 4},{100 + place};{place % 4}" for place in range(80)]
    (tmp_path / "doubtful.csv").write_text("\n".join(["size;grade", *lines]))
    return tmp_path / "doubtful.csv"


def train(table, out, *more):
    return ("train", table, "--method", "ce", *LOOK, "--logger", "none", "--out", out, *more)


def answers(run, model, table, *more):
    status, output, errors = run("predict", model, table, "--json", "--device", "cpu", *more)
    return status, [json.loads(line) for line in output.splitlines()], errors


def test_a_table_of_a_german_spreadsheet_gives_the_model_of_the_one_with_points(run, german, tmp_path):
    points = german.with_name("points.csv")
    first = pd.read_csv(points)["size"][0]
    note = f"Note: read with decimal commas: size, tone ({str(first).replace('.', ',')} is {first})"
    for data, told in ((german, 1), (points, 0)):
        status, _, errors = run(*train(data, tmp_path / data.stem))
        assert (status, errors.count(note)) == (0, told), errors
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("german", "points")]
    assert weights[0] == weights[1]

    said = []
    for data, told in ((german, 1), (points, 0)):
        status, rows, errors = answers(run, tmp_path / "german", data)
        assert (status, errors.count(note)) == (0, told), errors
        said.append([row["probs"] for row in rows])
        status, output, errors = run("evaluate", tmp_path / "german", data, "--json", "--device", "cpu")
        assert status == 0, errors
        said.append(json.loads(output)["metrics"])
    assert said[:2] == said[2:]
    model = onepeak.load(tmp_path / "german")
    assert model.predict(german).labels.tolist() == model.predict(points).labels.tolist()


def test_what_may_be_thousands_is_refused_everywhere_until_it_is_said(run, doubtful, tmp_path):
    told = "Write numbers as 1234.5, or give --decimal , (`decimal`)"
    status, _, errors = run(*train(doubtful, tmp_path / "model"))
    assert (status, told in errors) == (2, True), errors
    status, _, errors = run("splits", doubtful, "--label", "grade")
    assert (status, told in errors) == (2, True), errors
    status, _, errors = run("splits", doubtful, "--label", "grade", "--decimal", ",")
    assert (status, "read with decimal commas: size (1,100 is 1.100)" in errors) == (0, True), errors
    status, _, errors = run(*train(doubtful, tmp_path / "model", "--decimal", ","))
    assert status == 0, errors
    assert onepeak.load(tmp_path / "model").description.table.highest[0] < 5

    status, rows, errors = answers(run, tmp_path / "model", doubtful)
    assert status == 1
    assert rows[0]["error"].startswith(f"`size` must be a number, got '1,100'. {told}")
    status, rows, errors = answers(run, tmp_path / "model", doubtful, "--decimal", ",")
    assert (status, rows[0]["error"]) == (0, None), errors
    status, _, errors = run("evaluate", tmp_path / "model", doubtful, "--device", "cpu")
    assert (status, told in errors) == (2, True), errors
    status, output, errors = run(
        "evaluate", tmp_path / "model", doubtful, "--device", "cpu", "--json", "--decimal", ","
    )
    assert (status, json.loads(output)["items"]) == (0, 80), errors


def test_quoted_commas_of_a_file_with_commas_are_read_by_the_flag_that_is_named(run, tmp_path):
    lines = [f'"0,{10 + place}",{place % 4}' for place in range(80)]
    (tmp_path / "quoted.csv").write_text("\n".join(["size,grade", *lines]))
    status, _, errors = run("splits", tmp_path / "quoted.csv", "--label", "grade")
    assert (status, "Write numbers as 1234.5, or give --decimal , (`decimal`)" in errors) == (2, True), errors
    status, _, errors = run("splits", tmp_path / "quoted.csv", "--label", "grade", "--decimal", ",")
    assert (status, "read with decimal commas: size (0,10 is 0.10)" in errors) == (0, True), errors


def test_one_row_with_a_point_is_not_read_with_the_commas_of_others(run, german, tmp_path):
    run(*train(german, tmp_path / "model"))
    (tmp_path / "mixed.csv").write_text("size;tone\n1,5;0,5\n1.234;0,5\n")
    status, rows, _ = answers(run, tmp_path / "model", tmp_path / "mixed.csv")
    assert status == 0
    assert rows[0]["error"].startswith("`size` must be a number, got '1,5'. Write numbers as 1234.5")
    assert rows[1]["error"] is None


def test_compare_takes_it_and_its_report_opens_the_same_data(run, doubtful, tmp_path, here):
    flags = ("compare", doubtful, "--methods", "ce", *LOOK, "--folds", 1, "--out", tmp_path / "out")
    status, _, errors = run(*flags)
    assert (status, "--decimal ," in errors) == (2, True), errors
    status, _, errors = run(*flags, "--decimal", ",")
    assert status == 0, errors
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "could not be opened again" not in page
    status, _, errors = run("compare", tmp_path / "out", "--device", "cpu")  # from the folder's own settings
    assert status == 0, errors


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("data", "decimal", "message"),
    [
        ("german.csv", ".", "`decimal` must be ',' or left out, got '.'"),
        ("rows.parquet", ",", "`decimal` has no use for a parquet file"),
        ("list.csv", ",", "`decimal` has no use for a list of images"),
        ("biopsies", ",", "`decimal` has no use for the data set biopsies"),
    ],
)
def test_where_it_says_nothing_it_is_refused(german, data, decimal, message):
    folder = german.parent
    pd.read_csv(folder / "points.csv").to_parquet(folder / "rows.parquet")
    (folder / "list.csv").write_text("path,grade\na.png,1\n")
    with pytest.raises(onepeak.errors.InputError) as error:
        DataSource(
            data if data == "biopsies" else folder / data,
            label=None if data == "biopsies" else "grade",
            decimal=decimal,
        ).open()
    assert message in str(error.value)
