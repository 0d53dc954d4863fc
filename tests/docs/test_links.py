"""Links between files lead somewhere, links to the world to hosts we know."""

import re
from urllib.parse import urlparse

from docs.pages import PAGES, ROOT

TEXTS = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "results").rglob("*.md")]
HOSTS = {"github.com", "doi.org", "arxiv.org", "127.0.0.1"}
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INCLUDE = re.compile(r"^```{include} (\S+)$", re.MULTILINE)


def test_links_lead_somewhere():
    for path in TEXTS:
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in _LINK.findall(text):
            if link.startswith("http"):
                assert urlparse(link).hostname in HOSTS, link
                continue
            target, _, _ = link.partition("#")
            made = "_generated" in target  # by the build, which checks it
            assert made or not target or (path.parent / target).exists(), f"{path.name}: {link}"


def test_links_of_an_included_text_lead_somewhere_from_the_page_that_includes_it():
    for page in PAGES:
        for included in _INCLUDE.findall(page.read_text(encoding="utf-8")):
            for link in _LINK.findall((page.parent / included).read_text(encoding="utf-8")):
                target, _, _ = link.partition("#")
                image = target.endswith(".png")  # found from where the text lies, by :relative-images:
                assert target.startswith("http") or image or (page.parent / target).exists(), f"{page.name}: {link}"


def test_the_maps_of_the_code_name_files_that_exist():
    known = [path.as_posix() for path in (*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("*/*.py"))]
    for page in (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "design.md"):
        for name in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8")):
            assert any(path.endswith(f"/{name}") for path in known), f"{page.name}: {name}"


def test_the_reference_has_a_page_for_every_public_package():
    listed = (ROOT / "docs" / "generate" / "api.py").read_text(encoding="utf-8")
    private = {
        "onepeak",
        "onepeak.serving.http",
        "onepeak.serving.inspector",
        "onepeak.data.images.store",
        "onepeak.data.datasets",
    }
    for init in (ROOT / "src" / "onepeak").rglob("__init__.py"):
        package = ".".join(("onepeak", *init.parent.relative_to(ROOT / "src" / "onepeak").parts))
        if "__all__" in init.read_text(encoding="utf-8") and package not in private:
            assert f'"{package}"' in listed, package
