"""The commands of the page that reproduces the paper run as they stand, on images that have only the right names."""

import json
import re
import shlex
import shutil
import sys

import pytest
import timm
from safetensors.torch import save_file

from docs.pages import DOCS, ROOT, blocks
from onepeak.cli import main
from run_folders import write_run

COMMANDS = [
    line
    for block in blocks(DOCS / "paper.md")
    for line in block.commands
    if re.match(r"onepeak compare experiments/\S+-paper\.toml .*--out", line)
]
CELL = 10
"""Faces of each age and gender; the real sets have more."""


def names_of(root):
    """Paths as the data sets have them."""
    match root:
        case "ICIAR":
            return [f"{grade}/{n}.tif" for grade in ("Normal", "Benign", "InSitu", "Invasive") for n in range(100)]
        case "HCI":
            return [f"{decade}s/{n}.jpg" for decade in range(1930, 1980, 10) for n in range(265)]
        case "FGNET":
            return [f"images/{person:03}A{age:02}.JPG" for person in range(1, 83) for age in range(0, 36, 3)]
        case "AFAD-Lite" | "AFAD-Full":
            ages = range(18, 40) if root == "AFAD-Lite" else range(15, 73)
            return [f"{age}/{gender}/{n}.jpg" for age in ages for gender in (111, 112) for n in range(CELL)]


STEPS = {
    "ICIAR": (160, 160 * 1000 * 160 // 8),
    "HCI": (1600, 1600 * 1000 * 121),  # 967 and 968 samples are 121 batches
    "FGNET": (150, 150 * 1000 * 80),  # 53 persons of 12 images are 79 batches and a half
    "AFAD-Lite": (160, 160 * 100 * 5),  # 7 of each of 44 cells are trained on, in batches of 64
    "AFAD-Full": (150, 10 * (11 * 100 + 4 * 80) * 13),  # 7 of 116 cells; PN and ELB stop at 80, in both forms
}
"""Runs and steps of the whole experiment on those files, by hand."""


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Weights of the paper's network, which are checked before anything is trained."""
    path = tmp_path_factory.mktemp("weights") / "resnet18.safetensors"
    save_file(timm.create_model("resnet18").state_dict(), path)
    return path


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: shlex.split(line)[2])
def test_an_experiment_of_the_paper_can_be_run_by_its_command(line, weights, tmp_path, monkeypatch, capsys):
    words = shlex.split(line)
    root, out = (words[words.index(flag) + 1] for flag in ("--root", "--out"))
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    for name in names_of(root):
        place = tmp_path / root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    (tmp_path / words[words.index("--weights") + 1]).symlink_to(weights)
    # A run that is done says how long one takes, so that none is tried out.
    write_run(tmp_path / out, method="ce", epochs=100, seconds=1000.0)
    shutil.copy(tmp_path / words[2], tmp_path / out / "config.toml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [*words, "--dry-run", "--json", "--device", "cpu"])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capsys.readouterr()
    assert not stopped.value.code, printed.err
    found = json.loads(printed.out)["runs"]
    assert (len(found), sum(each["steps"] for each in found)) == STEPS[root]


def test_the_page_has_a_command_for_each_experiment_of_the_paper():
    files = {f"experiments/{path.name}" for path in (ROOT / "experiments").glob("*-paper.toml")}
    assert {shlex.split(line)[2] for line in COMMANDS} == files
