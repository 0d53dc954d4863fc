from dataclasses import replace

import pytest

from onepeak.errors import InputError
from onepeak.serving import load
from onepeak.serving.opening import check_kind, open_for
from trained_models import TABLE_CLASSES, picture_run, table_run


@pytest.fixture
def table_model():
    return load(table_run().folder)


def test_the_column_of_labels_is_remembered(table_model):
    assert table_model.description.label == "grade"
    data = open_for(table_model, table_run().folder.parent / "grades.csv")
    assert (data.classes, data.label_column) == (TABLE_CLASSES, "grade")


def test_a_table_without_the_remembered_column_is_read_by_the_usual_one(table_model, tmp_path):
    (tmp_path / "new.csv").write_text("size,tone,label\n1,dark,low\n2,1,high\n")
    assert open_for(table_model, tmp_path / "new.csv").label_column == "label"
    with pytest.raises(InputError, match="'marks'"):
        open_for(table_model, tmp_path / "new.csv", label="marks")


def test_the_column_of_groups_is_remembered_where_the_table_has_it(table_model, tmp_path):
    table_model.description = replace(table_model.description, group="patient")
    (tmp_path / "new.csv").write_text("size,tone,grade,patient\n1,dark,low,a\n2,1,high,b\n")
    assert open_for(table_model, tmp_path / "new.csv").groups == ("a", "b")
    assert open_for(table_model, table_run().folder.parent / "grades.csv").groups is None


@pytest.mark.bad_input
def test_the_kind_of_data_must_be_that_of_the_training(table_model, tmp_path):
    pictures = load(picture_run().folder)
    check_kind(pictures, pictures=True)
    check_kind(table_model, pictures=False)
    (tmp_path / "rows.csv").write_text("size,tone\n1,dark\n")  # not even a label
    with pytest.raises(
        InputError, match=r"must be pictures, .* without a column `path`: .* has size, tone\. .* --path"
    ):
        open_for(pictures, tmp_path / "rows.csv")
    with pytest.raises(InputError, match="must be rows of a table, as the model was trained on, got pictures"):
        open_for(table_model, tmp_path)


def test_the_column_of_pictures_is_remembered_where_the_list_has_it(tmp_path):
    model = load(picture_run().folder)
    model.description = replace(model.description, path="scan")
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "scans.csv").write_text("scan,path,label\na.png,b.png,g1\n")
    (tmp_path / "paths.csv").write_text("path,label\nb.png,g1\n")
    (tmp_path / "files.csv").write_text("file,label\nb.png,g1\n")
    assert open_for(model, tmp_path / "scans.csv").items.paths == ("a.png",)
    assert open_for(model, tmp_path / "scans.csv", path="path").items.paths == ("b.png",)
    assert open_for(model, tmp_path / "paths.csv").items.paths == ("b.png",)
    assert open_for(model, tmp_path / "files.csv", path="file").items.paths == ("b.png",)
