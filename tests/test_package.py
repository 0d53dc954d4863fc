"""What people install: the wheel and the sdist, built here and tried outside the checkout."""

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import onepeak
from docs.pages import ROOT, blocks

NEVER_INSTALLED = ("tests", "results", "benchmarks")


def build(folder, out, *formats):
    """Builds with what is installed, so without a network."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-d",
        str(out),
        *(word for each in formats for word in ("-t", each)),
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "wheel", "sdist")
    return out


@pytest.fixture(scope="module")
def wheel(built):
    return next(built.glob("*.whl"))


def content_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel):
    package = ROOT / "src"
    ours = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    named = {name for name in content_of(wheel) if not name.startswith(f"onepeak-{onepeak.__version__}.dist-info/")}
    assert named == ours
    kinds = {"onepeak/py.typed", "onepeak/experiment/demo.toml", "onepeak/report/templates/report.html"}
    assert kinds | {"onepeak/serving/inspector/static/inspector.css"} <= named


def test_the_sdist_holds_source_documentation_and_examples_and_builds_the_same_wheel(built, wheel, tmp_path):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    inside = {path.name for path in folder.iterdir()}
    assert inside.isdisjoint(NEVER_INSTALLED)
    assert {"src", "docs", "examples", "experiments", "LICENSE", "CITATION.cff", "README.md"} <= inside
    assert {"pictures", "gallery"} <= {path.name for path in (folder / "docs").iterdir()}
    build(folder, tmp_path / "again", "wheel")
    assert content_of(next((tmp_path / "again").glob("*.whl"))) == content_of(wheel)


def with_all_they_need(*names):
    """The installed distributions that these need, and these."""
    found, waiting = {}, [Requirement(name) for name in names]
    while waiting:
        wanted = waiting.pop()
        extras = {"", *wanted.extras}
        if (wanted.name, *sorted(extras)) in found:
            continue
        distribution = importlib.metadata.distribution(wanted.name)
        found[wanted.name, *sorted(extras)] = distribution
        needs = map(Requirement, distribution.requires or ())
        waiting += [
            need for need in needs if not need.marker or any(need.marker.evaluate({"extra": e}) for e in extras)
        ]
    return found.values()


def outside(folder, python, *arguments, check=True):
    """Runs Python where nothing of the checkout can be seen."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [python, *arguments], cwd=folder, env=environment, check=check, capture_output=True, text=True
    )


def test_with_torch_and_torchmetrics_alone_the_examples_of_the_readme_run(wheel, tmp_path):
    """They and what they need are linked from where the tests run; installing them again would take minutes."""
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    site = next(environment.glob("lib/python*/site-packages"))
    for distribution in with_all_they_need("torch", "torchmetrics"):
        for top in {file.parts[0] for file in distribution.files if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, capture_output=True)

    ours = [
        each.text for each in blocks(ROOT / "README.md") if each.language == "python" and "sklearn" not in each.text
    ]
    ran = outside(tmp_path, python, "-W", "error", "-c", "\n".join([*ours, "print(onepeak.__file__)"]))
    assert re.search(r"^\d+% of adjacent pairs in order, chance 51%$", ran.stdout, re.MULTILINE)
    assert Path(ran.stdout.splitlines()[-1]).is_relative_to(site)
    command = subprocess.run([environment / "bin" / "onepeak"], check=False, capture_output=True, text=True)
    assert (command.returncode, "pip install 'onepeak[cli]'" in command.stderr) == (1, True)


TRAIN = (
    "onepeak train grades.csv --label grade --order mild,moderate,severe --epochs 2 --device cpu --quiet --out model"
)
FIT = "python -c 'import onepeak; onepeak.OrdinalClassifier(epochs=2).fit([[0.0], [1.0], [2.0]] * 9, [0, 1, 2] * 9)'"
COMMANDS = {
    "cli": ["onepeak --version", "onepeak methods"],
    "data": ["onepeak splits grades.csv --label grade --order mild,moderate,severe"],
    "train": [TRAIN, "onepeak predict model grades.csv --csv"],
    "report": ["onepeak report comparison --out report"],
    "text": ["python -c 'import transformers, onepeak.networks.text_encoder'"],
    "dicom": ["python -c 'import pydicom, onepeak.data.images.decode'"],
    "ray": ["python -c 'import onepeak.experiment.executors.ray, ray'"],
    "sklearn": [FIT],
    "export": [TRAIN, "onepeak export model --onnx grades.onnx"],
    "hub": ["python -c 'import onepeak.serving.hub, huggingface_hub'"],
    "serve": [
        TRAIN,
        "python -c 'import onepeak; from onepeak.serving.http import create_app; create_app(onepeak.load(\"model\"))'",
    ],
}
"""What shows that an extra is enough."""


def commands_of(extra):
    return (
        COMMANDS[extra] if extra != "all" else dict.fromkeys(command for each in COMMANDS.values() for command in each)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "python", "resolution"),
    [
        *((extra, None, "highest") for extra in COMMANDS),
        ("all", None, "lowest-direct"),
        *(("all", version, "highest") for version in ("3.12", "3.13", "3.14")),
    ],
)
def test_an_extra_is_enough_for_its_commands(extra, python, resolution, wheel, tmp_path):
    """Installed for real: minutes and a network, unless uv has all in its cache."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    environment = tmp_path / "environment"
    version = [python] if python else [sys.executable]
    made = subprocess.run(
        [uv, "venv", "--quiet", "--offline", "--python", *version, environment], check=False, capture_output=True
    )
    if made.returncode and python:
        pytest.skip(f"no Python {python} here")
    target = ["--python", environment / "bin" / "python", "--resolution", resolution]
    subprocess.run([uv, "pip", "install", "--quiet", *target, f"onepeak[{extra}] @ {wheel.as_uri()}"], check=True)
    folder = tmp_path / "outside"
    shutil.copytree(ROOT / "tests" / "release_0_1", folder)
    for command in commands_of(extra):
        program, *arguments = shlex.split(command)
        ran = outside(folder, environment / "bin" / program, *arguments, check=False)
        assert ran.returncode == 0, f"{command}\n{ran.stderr}"
    shutil.rmtree(environment)  # gigabytes
