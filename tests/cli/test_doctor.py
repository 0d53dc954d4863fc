import json
import tomllib
from pathlib import Path

from onepeak import __version__
from onepeak.cli import doctor


def test_versions_devices_and_extras_are_shown(run):
    status, output, errors = run("doctor", "--json")
    found = json.loads(output)
    assert (status, errors, found["versions"]["onepeak"]) == (0, "", __version__)
    assert "cores" in found["devices"]["cpu"]
    known = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(found["extras"]) == set(known) - {"all", "docs", "bench", "dev"}


def test_what_an_extra_lacks_is_named_with_the_command_that_brings_it(run, monkeypatch):
    monkeypatch.setattr(doctor, "_is_missing", lambda package: package == "ray")
    lines = dict(line.split("\t") for line in run("doctor")[1].splitlines())
    assert lines["ray"] == "missing ray: pip install 'onepeak[ray]'"
    assert lines["train"] == "complete"  # ray is no part of it
