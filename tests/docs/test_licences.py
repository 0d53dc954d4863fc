"""The page of licences names every package that an extra brings, and the citation is that of this version."""

import re
import tomllib

import onepeak
from docs.pages import DOCS, ROOT
from onepeak.data.datasets import DATASETS

NOT_FOR_USERS = {"dev", "docs", "bench", "all"}
"""Extras for work on onepeak itself, and the one that is all others."""


def test_every_package_that_users_install_is_on_the_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [needs for name, needs in project["optional-dependencies"].items() if name not in NOT_FOR_USERS]
    needed = {re.match(r"[\w-]+", need)[0] for needs in (project["dependencies"], *extras) for need in needs}
    page = (DOCS / "licences.md").read_text(encoding="utf-8")
    assert sorted(name for name in needed - {"onepeak"} if not re.search(rf"\b{name}\b", page)) == []


def test_every_data_set_is_on_the_page_with_its_terms():
    page = (DOCS / "licences.md").read_text(encoding="utf-8").lower()
    for record in DATASETS:
        assert record.name.partition("-")[0] in page.replace("fg-net", "fgnet"), record.name


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == onepeak.__version__
    assert "arXiv:1911.10720" in citation
