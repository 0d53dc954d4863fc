from dataclasses import replace

import numpy as np
import pytest

from onepeak.data import DataSource
from onepeak.errors import InputError
from onepeak.serving import evaluate, load
from onepeak.serving.evaluation_data import check_kind, open_for
from onepeak.serving.table_rows import rows_of_file
from onepeak.training.table_encoder import TableEncoder
from table_models import table_model as rows_model
from trained_models import TABLE_CLASSES, image_run, table_run


def test_the_columns_of_labels_and_groups_are_remembered_where_the_table_has_them(table_model, tmp_path):
    assert table_model.description.label == "grade"
    data = open_for(table_model, DataSource(table_run().folder.parent / "grades.csv"))
    assert (data.classes, data.label_column) == (TABLE_CLASSES, "grade")
    table_model.description = replace(table_model.description, group="patient")
    assert open_for(table_model, DataSource(table_run().folder.parent / "grades.csv")).groups is None
    (tmp_path / "new.csv").write_text("size,tone,label,patient\n1,dark,low,a\n2,1,high,b\n")
    data = open_for(table_model, DataSource(tmp_path / "new.csv"))
    assert (data.label_column, data.groups) == ("label", ("a", "b"))
    with pytest.raises(InputError, match="'marks'"):
        open_for(table_model, DataSource(tmp_path / "new.csv", label="marks"))


@pytest.mark.bad_input
def test_rows_with_other_columns_or_that_were_not_read_for_the_model_are_refused(table_model, tmp_path):
    """By themselves the last tones are numbers: they would be taken for codes."""
    file = DataSource(tmp_path / "some.csv", order=TABLE_CLASSES)
    for text, message in (
        ("size,label\n0.1,low\n2.0,high\n", "must have the columns size, tone, it lacks tone"),
        ("size,tone,label\nbig,1,low\nsmall,2,high\n", r"'size' must be finite .*: 'big' \(row 2\), 'small' \(row 3\)"),
    ):
        (tmp_path / "some.csv").write_text(text)
        with pytest.raises(InputError, match=message):
            open_for(table_model, file)
    (tmp_path / "some.csv").write_text("size,tone,label\n0.1,2,low\n2.0,1,high\n")
    with pytest.raises(InputError, match=r"must have the columns and codes .* got others: .*open_for\(model"):
        evaluate(table_model, file.open())


VISITS = TableEncoder(
    columns=("site", "visit"), categories={"site": ("0012", "1234567", "x")}, means=(0, 5), stds=(1, 2), missing=()
)
SITES = ("0012", "1234567", "x")


def visits(path, *, sites=SITES, first=1, more=""):
    """Twelve rows with the labels 0 to 5."""
    lines = [f"{sites[row % len(sites)]},{first + row},{row % 6}{more and ',' + more}" for row in range(12)]
    path.write_text("\n".join([f"site,visit,label{more and ',more'}", *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    "table",
    [
        {"sites": [f"s{row}" for row in range(12)], "first": 3},  # hardly repeats
        {"first": 1},  # counts the rows
        {"sites": ["1234567"], "first": 3},  # nothing but numbers
        {"sites": ["0012"], "first": 3},
        {"sites": ["NA", "0012"], "first": 3},
        {"first": 3, "more": "2020-01-01"},
    ],
)
def test_a_table_is_read_as_predict_reads_it(table, tmp_path):
    """Whatever its columns look like by themselves."""
    model = rows_model("ce", encoder=VISITS)
    model.description = replace(model.description, classes=tuple("012345"))
    file = visits(tmp_path / "visits.csv", **table)
    expected = rows_of_file(file, VISITS).rows
    for found in (open_for(model, DataSource(file)), open_for(model, DataSource(file, order="0..5"))):
        assert (found.items.columns, found.items.categories) == (VISITS.columns, VISITS.categories)
        np.testing.assert_array_equal(found.items.values, expected.values)
    assert evaluate(model, found).prediction.log_probs.equal(model.predict(file).log_probs)


def test_what_the_model_does_not_read_cannot_stop_it(tmp_path):
    """A column of numbers with a few texts, as numbers of patients are."""
    model = rows_model("ce", encoder=VISITS)
    model.description = replace(model.description, group="patient")
    patients = [*range(100, 139), "P7"]
    lines = [f"x,{row / 7},grade {row % 6},{patient},{patient}" for row, patient in enumerate(patients)]
    (tmp_path / "rows.csv").write_text("\n".join(["site,visit,label,patient,chart", *lines]) + "\n")
    data = open_for(model, DataSource(tmp_path / "rows.csv"))
    assert data.groups == tuple(map(str, patients))
    assert data.items.columns == ("site", "visit")


@pytest.mark.bad_input
def test_a_cell_that_predict_cannot_read_is_told_or_left_out(tmp_path):
    model = rows_model("ce", encoder=VISITS)
    (tmp_path / "rows.csv").write_text("site,visit,label\nx,1,grade 0\nx,inf,grade 1\nx,3,grade 2\nx,two,grade 1\n")
    message = r"^\S*rows\.csv: The column 'visit' must be finite .* 2 rows have none: 'inf' \(row 3\), 'two' \(row 5\)"
    with pytest.raises(InputError, match=message) as found:
        open_for(model, DataSource(tmp_path / "rows.csv"))
    assert "order" not in str(found.value)
    (tmp_path / "label.csv").write_text("site,visit,label\nx,1,grade 0\nx,2,grade X\n")
    for order, whose in ((None, " The order is the model's"), (model.classes, "")):
        with pytest.raises(InputError, match=rf"^\S*label\.csv: `order` must name .* lacks 'grade X'.*{whose}"):
            open_for(model, DataSource(tmp_path / "label.csv", order=order))
    data = open_for(model, DataSource(tmp_path / "rows.csv", skip_bad=True))
    assert data.items.values.tolist() == [[2, 1], [2, 3]]
    assert "left out 2 of 4 rows: no usable number in 'visit' (rows 3, 5)" in data.notes


@pytest.mark.parametrize("classes", [("3", "2", "1"), ("01", "02", "10")])
def test_integers_have_the_order_of_the_model_unless_the_data_states_its_own(tmp_path, classes):
    model = rows_model("ce", encoder=VISITS, num_classes=3)
    model.description = replace(model.description, classes=classes)
    file = tmp_path / "visits.csv"
    file.write_text("".join(["site,visit,label\n", *(f"x,1,{name}\n" for name in classes[:2])]))
    assert open_for(model, DataSource(file)).classes == classes
    (tmp_path / "classes.txt").write_text("\n".join(reversed(classes)))
    assert open_for(model, DataSource(file)).classes == classes[::-1]


@pytest.mark.bad_input
def test_the_kind_of_data_must_be_that_of_the_training(table_model, tmp_path):
    images = load(image_run().folder)
    check_kind(images, images=True)
    check_kind(table_model, images=False)
    (tmp_path / "rows.csv").write_text("size,tone\n1,dark\n")  # not even a label
    with pytest.raises(InputError, match=r"must be images, .* without a column `path`: .* has size, tone\. .* --path"):
        open_for(images, DataSource(tmp_path / "rows.csv"))
    with pytest.raises(InputError, match="must be rows of a table, as the model was trained on, got images"):
        open_for(table_model, DataSource(tmp_path))


@pytest.mark.parametrize("order", [None, "g1,g2"])
def test_images_that_are_all_of_a_class_may_be_left_out_as_the_classes_are_the_models(tmp_path, order):
    model = load(image_run().folder)
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "scans.csv").write_text("path,label\na.png,g1\ngone.png,g2\n")
    data = open_for(model, DataSource(tmp_path / "scans.csv", order=order, skip_bad=True))
    assert (data.items.paths, data.classes[:2], data.labels.tolist()) == (("a.png",), ("g1", "g2"), [0])


def test_the_column_of_images_is_remembered_where_the_list_has_it(tmp_path):
    model = load(image_run().folder)
    model.description = replace(model.description, path="scan")
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "scans.csv").write_text("scan,path,label\na.png,b.png,g1\n")
    (tmp_path / "paths.csv").write_text("path,label\nb.png,g1\n")
    (tmp_path / "files.csv").write_text("file,label\nb.png,g1\n")
    assert open_for(model, DataSource(tmp_path / "scans.csv")).items.paths == ("a.png",)
    assert open_for(model, DataSource(tmp_path / "scans.csv", path="path")).items.paths == ("b.png",)
    assert open_for(model, DataSource(tmp_path / "paths.csv")).items.paths == ("b.png",)
    assert open_for(model, DataSource(tmp_path / "files.csv", path="file")).items.paths == ("b.png",)
