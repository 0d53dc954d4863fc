import json

import pytest

from cli.one_command import invoked
from onepeak.cli.datasets import datasets
from onepeak.data.datasets import DATASETS
from onepeak.errors import InputError, UnknownNameError


def run(*arguments):
    return invoked(datasets, *arguments).output


@pytest.fixture
def fgnet(tmp_path):
    for name in ("001A02.JPG", "001A05.JPG", "002A02.JPG"):
        path = tmp_path / "images" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    return tmp_path


def test_all_sets_are_listed_with_how_to_obtain_them():
    lines = run().splitlines()
    assert lines[0].split("\t") == ["name", "title", "classes", "images", "how to obtain"]
    assert [line.split("\t")[0] for line in lines[1:] if "\t" in line] == [record.name for record in DATASETS]
    assert all(record.obtain in line for record, line in zip(DATASETS, lines[1:], strict=False))


def test_one_set_is_shown_whole():
    shown = run("fgnet")
    for text in ("0 < 1 < 2 < ... < 69 (70 classes)", "1,002", DATASETS["fgnet"].terms, DATASETS["fgnet"].reference):
        assert text in shown


def test_what_was_found_stands_beside_what_should_be_there(fgnet):
    lines = run("fgnet", "--root", fgnet).splitlines()
    assert "2\t2\t?" in lines
    assert "all\t3\t1,002" in lines
    assert "Note: found 3 of 1,002 images and 2 of 82 subjects" in lines


def test_json_holds_the_same(fgnet):
    found = json.loads(run("fgnet", "--root", fgnet, "--json"))
    assert (found["images"], found["found"]["images"], found["found"]["groups"]) == (1002, 3, 2)
    assert found["found"]["classes"]["2"] == 2
    assert [record["name"] for record in json.loads(run("--json"))] == [record.name for record in DATASETS]
    assert json.loads(run("hci", "--json"))["images_per_class"] == 265


def test_on_a_terminal_there_is_a_table(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    shown = run()
    assert "│ fgnet" in shown
    assert "…" not in shown  # an address that is cut is of no use


@pytest.mark.bad_input
def test_a_root_needs_a_name(tmp_path):
    with pytest.raises(InputError, match="`--root` needs the name of a data set: onepeak datasets NAME --root FOLDER"):
        run("--root", tmp_path)


@pytest.mark.bad_input
def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'fgnet'\?"):
        run("fgnt")
