"""The workflows, templates and recipe of a public repository, as far as they can be checked without a network."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import onepeak
from docs.pages import ROOT
from test_dependencies import NEEDED, PROJECT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("custom.github-workflows-require-timeout", WORKFLOWS),
        ("vendor.github-issue-forms", [FORMS / "bug.yml", FORMS / "method.yml"]),
        ("vendor.github-issue-config", [FORMS / "config.yml"]),
        ("vendor.dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_every_file_has_the_form_that_its_reader_asks_for(schema, files):
    checked = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, *map(str, files)])
    assert checked.exit_code == 0, checked.output


def test_the_workflows_have_no_known_weakness():
    """Actions pinned by digest, the fewest rights, no text of a stranger in a command, and more of the kind."""
    zizmor = shutil.which("zizmor", path=Path(sys.executable).parent)
    audited = subprocess.run(
        [
            zizmor,
            "--offline",
            "--pedantic",
            "--strict-collection",
            "--no-progress",
            ROOT / ".github",
            ROOT / ".pre-commit-config.yaml",
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert audited.returncode == 0, audited.stdout


def steps(workflow):
    for job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


def test_what_the_workflows_call_exists():
    runs = "\n".join(step["run"] for workflow in WORKFLOWS for step in steps(workflow) if "run" in step)
    commands = runs + (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    targets = set(re.findall(r"^make ([\w-]+)", commands, re.MULTILINE))
    assert {"test", "test-slow", "docs", "dist", "sbom"} <= targets
    assert targets <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
    files = re.findall(r"(?:^|cp )((?:\.ci|examples|tests|src)/\S+)", runs, re.MULTILINE)
    assert len(files) > 2
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_the_pythons_of_the_matrix_are_those_the_package_names():
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = tests["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = [each.rpartition(" :: ")[2] for each in PROJECT["classifiers"] if each.startswith("Programming Language")]
    assert matrix == [each for each in named if "." in each]
    assert [each in SpecifierSet(PROJECT["requires-python"]) for each in ("3.10", *matrix)] == [False] + [True] * len(
        matrix
    )


def test_a_commit_is_checked_by_what_make_lint_runs():
    pinned = next(need for need in PROJECT["optional-dependencies"]["dev"] if need.startswith("ruff"))
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    recipe = re.search(r"^lint: setup\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    assert [f"\t$(BIN)/{hook['entry']} .\n" for hook in local["hooks"]] == recipe.splitlines(keepends=True)
    assert all(hook["additional_dependencies"] == [pinned] for hook in local["hooks"])


CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base", "ray": "ray-core"}
"""Packages with another name in conda."""


def test_the_conda_recipe_has_the_version_and_the_bounds_of_the_package():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == onepeak.__version__
    core, whole = recipe["outputs"]
    entry = [f"{name} = {where}" for name, where in PROJECT["scripts"].items()]
    assert core["build"]["python"]["entry_points"] == entry
    listed = [
        Requirement(each) for output in (core, whole) for each in output["requirements"]["run"] if "$" not in each
    ]
    bounds = {each.name: each.specifier for each in listed}
    wanted = {CONDA.get(each.name, each.name): each.specifier for each in NEEDED}
    assert bounds == wanted | {"python": SpecifierSet(PROJECT["requires-python"])}


RENDER = """
import sys
from rattler_build import Stage0Recipe, VariantConfig
for variant in Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig()):
    print(variant.recipe.package.name, variant.recipe.package.version)
"""


@pytest.mark.slow
def test_the_conda_recipe_can_be_read_by_what_builds_it():
    uv = shutil.which("uv", path=Path(sys.executable).parent)
    command = [uv, "tool", "run", "--from", "py-rattler-build", "python", "-c", RENDER, ROOT / "recipe" / "recipe.yaml"]
    rendered = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert rendered.splitlines() == [f"{name} {onepeak.__version__}" for name in ("onepeak", "onepeak-all")]


@pytest.mark.slow
def test_the_list_of_parts_names_what_is_installed_with_licences():
    """In CycloneDX; from a clean environment with the versions of constraints.txt."""
    subprocess.run(["make", "--old-file=.venv/bin/uv", "sbom"], cwd=ROOT, check=True, capture_output=True)
    parts = json.loads((ROOT / "dist" / "sbom.json").read_text(encoding="utf-8"))
    names = {part["name"].lower() for part in parts["components"] if part.get("licenses")}
    assert (parts["bomFormat"], parts["metadata"]["component"]["name"]) == ("CycloneDX", "onepeak")
    assert {"torch", "torchmetrics", "numpy", "pillow", "fastapi"} <= names
