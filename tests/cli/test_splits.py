import csv
import json

import pytest

from cli.one_command import invoked
from onepeak.cli.splits import splits
from onepeak.errors import InputError


@pytest.fixture
def run():
    """Runs `onepeak splits`; gives what was printed."""

    def call(*arguments):
        result = invoked(splits, *arguments)
        assert result.exit_code == 0, result.output
        return result.output

    return call


@pytest.fixture
def faces(tmp_path):
    """A list of 24 images of 6 people; two files are copies of each other with different labels."""
    (tmp_path / "images").mkdir()
    lines = ["path,label,group"]
    for number in range(24):
        (tmp_path / "images" / f"{number:02}.png").write_bytes(bytes([number]) * 8)
        lines.append(f"images/{number:02}.png,{number % 3},person{number % 6}")
    (tmp_path / "images" / "01.png").write_bytes(bytes(8))
    (tmp_path / "faces.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "faces.csv"


def test_sizes_are_shown_by_part_and_class_with_groups(run, faces):
    output = run(faces, "--protocol", "holdout", "--splits", 1)
    assert "faces: 24 samples, 3 classes; protocol holdout, seed 0, 1 run" in output
    assert f"Next: the same with --out splits.csv, then onepeak train {faces} --protocol splits.csv\n" in output
    [row] = [line for line in output.splitlines() if line.startswith("split0-fold0\t")]
    groups = [int(cell.split("(")[1].rstrip(")")) for cell in row.split("\t")[1:4]]
    assert sum(groups) == 6
    assert "exact copies with different labels: images/00.png (0), images/01.png (1)" in output


def test_without_groups_no_leak_is_said_of_the_content_only(run, faces):
    faces.with_name("images").joinpath("01.png").write_bytes(b"another")
    assert "\tnone\n" in run(faces, "--protocol", "holdout", "--splits", 1)
    faces.write_text(faces.read_text().replace("group", "patient"))
    output = run(faces, "--protocol", "holdout", "--splits", 1)
    assert "\tnone by content; no groups given\n" in output
    assert "patient: 6 names with 4 rows each; if these are persons or things that recur" in output


def test_equal_rows_of_a_table_are_told_in_the_column_of_leaks(run, tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n" + "1,0\n2,1\n" * 12)
    output = run(tmp_path / "t.csv", "--protocol", "holdout", "--splits", 1)
    assert "\tnone; equal rows, see the note\n" in output
    assert "Note in split0-fold0: train and valid share 2 rows, value for value" in output


def test_missing_images_are_left_out_when_asked(run, faces):
    faces.with_name("images").joinpath("05.png").unlink()
    with pytest.raises(
        InputError, match=r"1 of 24 images does not exist .* \(--root\)\. Or leave the rows out with skip_"
    ):
        run(faces)
    output = run(faces, "--skip-bad")
    assert "faces: 23 samples" in output
    assert "left out 1 of 24 rows: no such image, images/05.png (row 7)" in output


def test_json_has_every_run(run, faces):
    record = json.loads(run(faces, "--json"))
    lines = run(faces).splitlines()
    assert "run\ttrain\tvalid\ttest\tleaks" in lines
    assert sum(line.startswith("split") for line in lines) == 5
    assert "0\t8" in {line[:3] for line in lines[lines.index("class\tsamples\ttrain\tvalid\ttest") :]}
    assert record["protocol"] == "kfold"
    assert len(record["runs"]) == 5
    for entry in record["runs"]:
        assert sum(entry["sizes"].values()) == 24
        assert sum(entry["groups"].values()) == 6
        names = entry["group_names"]
        assert {part: len(found) for part, found in names.items()} == entry["groups"]
        assert sorted(name for found in names.values() for name in found) == [f"person{n}" for n in range(6)]
        assert {part: sum(counts) for part, counts in entry["class_counts"].items()} == entry["sizes"]
    assert record["conflicts"][0]["names"] == ["images/00.png", "images/01.png"]


def test_splits_are_saved_and_read_back(run, faces, tmp_path):
    output = run(faces, "--out", tmp_path / "out" / "splits.csv")
    assert "Saved to" in output
    with (tmp_path / "out" / "splits.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 24
    made = json.loads(run(faces, "--json"))
    read = json.loads(run(faces, "--protocol", tmp_path / "out" / "splits.csv", "--json"))
    assert [entry["sizes"] for entry in read["runs"]] == [entry["sizes"] for entry in made["runs"]]
    assert read["protocol"] == "splits.csv"


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_items_that_a_file_leaves_out_are_told_and_not_used(run, faces, tmp_path, suffix):
    parts = ["train"] * 12 + ["valid"] * 6 + ["test"] * 5
    lines = [f"images/{number:02}.png,{part}" for number, part in enumerate(parts)]
    (tmp_path / "theirs.csv").write_text("\n".join(["path,part", *lines]) + "\n")
    run(faces, "--protocol", tmp_path / "theirs.csv", "--out", tmp_path / f"ours{suffix}")
    record = json.loads(run(faces, "--protocol", tmp_path / f"ours{suffix}", "--json"))
    assert [entry["sizes"] for entry in record["runs"]] == [{"train": 12, "valid": 6, "test": 5}]
    assert "1 of 24 samples is in no part, and not used: images/23.png" in record["notes"]


def test_a_leak_is_shown_with_what_it_means_for_training(run, faces, tmp_path):
    rows = "".join(f"{item},{'train' if item < 12 else 'valid' if item < 18 else 'test'}\n" for item in range(24))
    (tmp_path / "bad.csv").write_text("item,part\n" + rows)
    output = run(faces, "--protocol", tmp_path / "bad.csv")
    assert "same group" in output
    assert "Leak in split0-fold0: train and test share 6 groups (6 samples of test): person0, person1" in output
    assert "Training on a leaking split is refused unless --allow-leak is given." in output
