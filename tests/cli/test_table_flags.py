"""How a table is read, as `train`, `compare`, `splits`, `predict` and `evaluate` meet it.

Categories, columns to ignore, decimal commas and bad cells.
"""

import json

import pandas as pd
import pytest

import onepeak

LOOK = ("--label", "grade", "--epochs", 2, "--device", "cpu")
FEW_INTEGERS = "Note: few different integers in site (3)"
IDS = "Note: a different value in every row, as ids have, in policy"
BAD = {3: "big,0.1,3", 10: "0.5,0.2", 20: "1,2,0.3,0", 30: "0.5,0.1,", 40: "0.5,0.1,9", 50: "1e300,0.1,"}
"""Rows that take the place of good ones, by their position."""
LEFT_OUT = (
    "Note: left out 6 of 80 rows: more or fewer fields than the header (rows 12, 22); no number in 'size' (row 5); "
    "no usable number in 'size' (row 52); no label (rows 32, 52); a label that the order lacks, '9' (row 42)\n"
)


@pytest.fixture
def policies(table, tmp_path):
    """The table with the number of a site and an id in every row, and a column that cannot be read."""
    rows = pd.read_csv(table)
    sites = [1 + index % 3 for index in range(len(rows))]
    ids = [1000 + 7 * index % len(rows) for index in range(len(rows))]
    rows = rows.assign(site=sites, policy=ids, odd=["inf", *["1"] * (len(rows) - 1)])
    rows.to_csv(tmp_path / "policies.csv", index=False)
    return tmp_path / "policies.csv"


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


@pytest.fixture
def bad(table, tmp_path):
    """The table with six bad rows."""
    header, *rows = table.read_text().splitlines()
    rows = [BAD.get(place, row) for place, row in enumerate(rows)]
    (tmp_path / "grades.csv").write_text("\n".join([header, *rows]))
    return tmp_path / "grades.csv"


@pytest.fixture
def clean(table, tmp_path):
    """The table without these rows."""
    (tmp_path / "clean").mkdir()
    pd.read_csv(table).drop(index=list(BAD)).to_csv(tmp_path / "clean" / "grades.csv", index=False)
    return tmp_path / "clean" / "grades.csv"


def train(table, out, *more):
    return ("train", table, "--method", "ce", *LOOK, "--logger", "none", "--out", out, *more)


def answers(run, model, table, *more):
    status, output, errors = run("predict", model, table, "--json", "--device", "cpu", *more)
    return status, [json.loads(line) for line in output.splitlines()], errors


def test_a_model_remembers_its_categories_and_does_not_ask_for_columns_that_it_was_to_ignore(run, policies, tmp_path):
    status, _, errors = run(*train(policies, tmp_path / "hints", "--drop", "odd"))
    assert (status, errors.count(FEW_INTEGERS), errors.count(IDS)) == (0, 1, 1), errors
    told = train(policies, tmp_path / "model", "--drop", "odd", "--category", "site")
    status, _, errors = run(*told, "--drop", "policy")
    assert (status, FEW_INTEGERS in errors, IDS in errors) == (0, False, False), errors
    assert "Note: read as numbers: size, tone\nNote: read as categories: site\n" in errors
    model = onepeak.load(tmp_path / "model")
    assert model.description.table.columns == ("size", "tone", "site")
    assert model.description.table.categories == {"site": ("1", "2", "3")}

    pd.read_csv(policies).drop(columns=["policy", "odd"]).to_csv(tmp_path / "bare.csv", index=False)
    labels = model.predict(pd.read_csv(policies)).predicted_index.tolist()
    for file in (policies, tmp_path / "bare.csv"):
        status, rows, errors = answers(run, tmp_path / "model", file)
        assert (status, [row["label"] for row in rows]) == (0, labels), errors
        status, output, errors = run("evaluate", tmp_path / "model", file, "--json", "--device", "cpu")
        assert (status, json.loads(output)["items"]) == (0, 80), errors
    assert run(*told, "--drop", "policy", "--resume")[0] == 0
    for flags, other in (
        (told, "columns = ('size', 'tone', 'site'), not ('size', 'tone', 'site', 'policy')"),
        ((*told[:-2], "--drop", "policy"), "category = {'site': ('1', '2', '3')}, not {}"),
    ):
        status, _, errors = run(*flags, "--resume")
        assert (status, f"holds a finished run with {other}: give another --out" in errors) == (2, True), errors


def test_compare_takes_all_of_them_and_its_report_opens_the_same_data(run, policies, tmp_path, here):
    rows = pd.read_csv(policies, dtype=str)
    rows.loc[[3, 30], "grade"] = ["9", None]
    path = tmp_path / "doubtful.csv"
    rows.assign(size=rows["size"].str.replace(".", ",")).to_csv(path, index=False, sep=";")
    out = tmp_path / "out"
    flags = ("compare", path, "--methods", "ce", *LOOK, "--order", "0..3", "--folds", 1, "--out", out, "--skip-bad")
    flags = (*flags, "--drop", "odd", "--drop", "policy", "--category", "site", "--decimal", ",")
    status, _, errors = run(*flags)
    assert status == 0, errors
    assert "Note: left out 2 of 80 rows" in errors
    assert errors.count("Note: read as categories: site\n") == 1
    page, differ = out / "report.html", "The data differ from those of the runs"
    assert "78 samples; 2 samples left out by --skip-bad" in page.read_text(encoding="utf-8")
    assert differ not in page.read_text(encoding="utf-8")
    assert "could not be opened again" not in page.read_text(encoding="utf-8")
    assert run("compare", out, "--device", "cpu", "--quiet")[0] == 0  # from the folder's own settings
    status, _, errors = run(*flags[:-4])
    assert status == 2
    assert "the data differ (category is ['site'] there and not given here; decimal is ',' there and not" in errors
    path.write_text(path.read_text().replace(";9;", ";3;"))
    assert run("report", out)[0] == 0
    assert differ in page.read_text(encoding="utf-8")


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
    assert model.predict(german).predicted_index.tolist() == model.predict(points).predicted_index.tolist()


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

    status, rows, _ = answers(run, tmp_path / "model", doubtful)
    assert (status, told in rows[0]["error"]) == (1, True)
    status, rows, errors = answers(run, tmp_path / "model", doubtful, "--decimal", ",")
    assert (status, rows[0]["error"]) == (0, None), errors


def flags_of(command, table, out, *more):
    how = ("--label", "grade", "--order", "0..3", "--epochs", 2, "--device", "cpu", "--out", out)
    return (command, table, *how, *(("--method", "elb") if command == "train" else ("--methods", "elb")), *more)


@pytest.mark.bad_input
@pytest.mark.parametrize("command", ["train", "compare"])
def test_all_bad_cells_of_a_table_are_reported_at_once(run, bad, tmp_path, command):
    status, output, errors = run(*flags_of(command, bad, tmp_path / "out"))
    assert (status, output) == (2, "")
    first, *faults, last = errors.splitlines()
    assert first == f"onepeak: {bad}: 6 of 80 rows cannot be used as they are:"
    found = [
        "have 3 fields, like the header, but 2 rows do not: row 12 (2), row 22 (4)",
        "'size' has numbers except in 1 row: 'big' (row 5)",
        "'size' must be finite numbers that fit into float32, 1 row has none: 1e+300 (row 52)",
        "must have a label, 2 samples of 78 have none: rows 32, 52",
        "it lacks '9' (1 sample, row 42). It names 0, 1, 2, 3",
    ]
    assert all(part in line for part, line in zip(found, faults, strict=True)), errors
    assert last.startswith("Or leave the rows out with --skip-bad.")
    assert not (tmp_path / "out").exists()


def test_bad_rows_are_left_out_as_if_they_were_not_there(run, bad, clean, tmp_path):
    status, _, errors = run(*flags_of("train", bad, tmp_path / "out", "--skip-bad", "--logger", "none"))
    assert status == 0, errors
    assert errors.startswith(LEFT_OUT)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["data"] == {"items": 74, "groups": None, "group_column": None, "left_out": 6}
    assert run(*flags_of("train", clean, tmp_path / "again", "--logger", "none"))[0] == 0
    one, other = (onepeak.load(tmp_path / name) for name in ("out", "again"))
    rows = pd.read_csv(clean)
    assert one.predict(rows).log_probs.tolist() == other.predict(rows).log_probs.tolist()

    status, output, errors = run("evaluate", tmp_path / "out", bad, "--order", "0..3", "--skip-bad", "--json")
    assert status == 0, errors
    note, *_ = json.loads(output)["notes"]
    assert note.startswith(
        "left out 6 of 80 rows: more or fewer fields than the header (rows 12, 22); no usable number in 'size'"
    )
    assert json.loads(output)["items"] == 74
    status, output, errors = run("splits", bad, "--label", "grade", "--order", "0..3", "--skip-bad", "--json")
    assert (status, json.loads(output)["items"]) == (0, 74), errors


def test_other_encodings_and_cells_that_stand_for_nothing_are_read_in_training_and_after(run, tmp_path):
    rows = [f"{n % 7 / 2 if n % 9 else '-'};{'mäßig' if n % 2 else 'schwer'}" for n in range(60)]
    (tmp_path / "befund.csv").write_bytes("\n".join(["größe;befund", *rows]).encode("cp1252"))
    how = ("--encoding", "cp1252", "--missing", "-")
    words = ("--label", "befund", "--order", "mäßig,schwer", "--epochs", "1", "--logger", "none", "--device", "cpu")
    status, _, errors = run("train", tmp_path / "befund.csv", *how, *words, "--out", tmp_path / "model")
    assert (status, "missing values in größe" in errors) == (0, True), errors
    for command in ("predict", "evaluate"):
        status, _, errors = run(command, tmp_path / "model", tmp_path / "befund.csv", *how)
        assert status == 0, errors
    status, _, errors = run("predict", tmp_path / "model", tmp_path / "befund.csv")
    assert (status, "give its encoding" in errors) == (2, True)
