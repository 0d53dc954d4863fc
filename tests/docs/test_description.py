"""`paper/paper.md`, the description for a journal of software: short, cited, and true to the records."""

import re

from docs.pages import ROOT
from docs.test_figures import measured, text_of  # noqa: F401 - a fixture

PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BODY = PAPER.split("---\n", 2)[2]
BIBLIOGRAPHY = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")


def test_what_is_cited_is_listed_and_what_is_listed_is_cited():
    cited = set(re.findall(r"@([a-z]+\d{4})", BODY))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE))


def test_its_images_are_there():
    images = re.findall(r"!\[[^]]*\]\(([^)]+)\)", BODY)
    assert images
    assert [image for image in images if not (ROOT / "paper" / image).is_file()] == []


def test_its_figures_are_those_of_the_records(measured):  # noqa: F811
    for label in ("ce-slow", "elb-slow", "smooth-rps+elb-mode-t3-slow"):
        assert f"{measured[label]['mae']:.2f} years" in BODY
    for label in ("elb-slow", "smooth-rps+elb-mode-t3-slow"):
        assert f"{100 * measured[label]['unimodal']:.1f} %" in BODY
    assert measured["ce-slow"]["unimodal"] == 0
    (agreement,) = re.findall(r"\d+ of \d+ printed figures", BODY)
    assert agreement.replace("printed ", "") in text_of("docs/reproduce.md")
