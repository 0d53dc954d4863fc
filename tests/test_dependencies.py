"""The bounds of the dependencies."""

import re
import tomllib
from collections import defaultdict

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from docs.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_WORK_ON_ONEPEAK = {"dev", "docs", "bench"}
"""Extras that no user installs."""
NEEDED = [
    Requirement(need)
    for needs in (PROJECT["dependencies"], *(EXTRAS[name] for name in EXTRAS if name not in FOR_WORK_ON_ONEPEAK))
    for need in needs
    if not need.startswith("onepeak[")
]
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
LOCKED = defaultdict(list)
"""The versions of every package in constraints.txt, each with the Pythons and systems it is for."""
for line in LOCK.splitlines():
    pinned = re.fullmatch(r"([a-z0-9-]+)==([^ ;]+)(?: ; (.+))?", line)
    LOCKED[pinned[1]].append((pinned[2], pinned[3]))
HOLES = re.findall(r"^\| ([\w-]+) \| ([<=]=?\S+) \| ", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)


def admits(allowed, shut_out):
    """Whether both allow one of the versions that either names."""
    versions = [each.version for each in (*allowed, *shut_out)]
    return any(version in allowed and version in shut_out for version in versions)


def test_two_ranges_are_compared_at_the_versions_they_name():
    assert admits(SpecifierSet(">=2.5"), SpecifierSet("<2.10"))
    assert not admits(SpecifierSet(">=2.10"), SpecifierSet("<2.10"))
    assert admits(SpecifierSet(">=2.4"), SpecifierSet("==2.6.2"))
    assert not admits(SpecifierSet(">=2.4,!=2.6.2"), SpecifierSet("==2.6.2"))


@pytest.mark.parametrize(("package", "versions"), HOLES)
def test_no_bound_admits_a_version_with_a_hole_that_security_md_lists(package, versions):
    (need,) = [need for need in NEEDED if need.name == package]
    assert not admits(need.specifier, SpecifierSet(versions))


def test_every_dependency_has_a_lower_bound_and_none_an_upper():
    """CONTRIBUTING says why."""
    assert len(HOLES) > 8
    for need in NEEDED:
        signs = {each.operator for each in need.specifier}
        assert ">=" in signs, need
        assert signs <= {">=", "!="}, need


def test_all_is_every_extra_for_users():
    (whole,) = map(Requirement, EXTRAS["all"])
    inside = {extra for need in EXTRAS["serve"] for extra in Requirement(need).extras} | {"cli", "data"}
    assert set(EXTRAS) - FOR_WORK_ON_ONEPEAK - {"all"} == whole.extras | inside


def test_the_lock_has_an_allowed_version_of_every_dependency():
    """`make lock` writes it again."""
    for need in map(Requirement, {need for needs in (PROJECT["dependencies"], *EXTRAS.values()) for need in needs}):
        if need.name != "onepeak":
            versions = [version for version, _ in LOCKED[canonicalize_name(need.name)]]
            assert versions, need
            assert all(version in need.specifier for version in versions), need


def test_the_lock_names_no_address():
    """So it serves behind every mirror: each line is a name and a version."""
    assert "/" not in LOCK
    assert len(LOCKED) > 150
