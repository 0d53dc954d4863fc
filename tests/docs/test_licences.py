"""The page of licences names every package that an extra brings, and the citation is that of this version."""

import importlib.metadata
import re
from collections import defaultdict

import pytest
from packaging.markers import Marker
from packaging.utils import canonicalize_name

import onepeak
from docs.pages import DOCS, ROOT
from onepeak.data.datasets import DATASETS
from test_dependencies import LOCKED, NEEDED
from test_package import with_all_they_need

PAGE = (DOCS / "licences.md").read_text(encoding="utf-8")
FAMILIES = {
    r"MIT-CMU": "MIT-CMU",
    r"MIT": "MIT",
    r"Apache": "Apache-2.0",
    r"BSD|0BSD": "BSD",
    r"PSF|Python Software Foundation": "PSF-2.0",
    r"MPL|Mozilla": "MPL-2.0",
    r"ISC": "ISC",
    r"NVIDIA": "NVIDIA's own",
}
"""How packages write their licences, and what the page calls them. A licence that is not here is one to think about."""


def licence(distribution):
    """One of the families, or "several of these"."""
    about = distribution.metadata
    classified = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier") or () if each[:7] == "License"]
    stated = about["License-Expression"] or " ".join(classified) or (about["License"] or "").partition("\n")[0]
    if distribution.name == "cuda-toolkit":  # has no word about it; it brings the packages of NVIDIA
        stated = "NVIDIA"
    if re.search(r" AND | OR ", stated):
        return "several of these"
    return next((name for pattern, name in FAMILIES.items() if re.search(pattern, stated)), stated)


def installed():
    """What the extras for users bring, as far as it is here in the version of constraints.txt."""
    try:
        found = {each.name: each for each in with_all_they_need(*map(str, NEEDED))}
    except importlib.metadata.PackageNotFoundError as error:
        pytest.skip(f"{error.name} is not installed")
    locked = {
        name: {version for version, marker in pins if not marker or Marker(marker).evaluate()}
        for name, pins in LOCKED.items()
    }
    return [each for name, each in found.items() if each.version in locked.get(canonicalize_name(name), ())]


def test_the_page_has_the_licence_of_every_package_that_users_install_as_its_metadata_have_it():
    rows = re.findall(r"^\| ([^|]+) \| ([a-z0-9, -]+) \|$", PAGE.partition("## Dependencies")[2], re.MULTILINE)
    listed = {package: name for name, packages in rows for package in packages.split(", ")}
    real = {canonicalize_name(each.name): licence(each) for each in installed()}
    assert len(real) > 60
    by_licence = defaultdict(list)
    for package, name in sorted(real.items()):
        by_licence[name].append(package)
    table = "\n".join(f"| {name} | {', '.join(packages)} |" for name, packages in sorted(by_licence.items()))
    assert {package: listed.get(package) for package in real} == real, f"The table should be:\n{table}"


def test_every_data_set_is_on_the_page_with_its_terms():
    for record in DATASETS:
        assert record.name.partition("-")[0] in PAGE.lower().replace("fg-net", "fgnet"), record.name


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == onepeak.__version__
    assert "arXiv:1911.10720" in citation
