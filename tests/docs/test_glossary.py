"""The words of the glossary: names are nouns, and an image is called an image."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTICIPLES = {"said", "opened", "typed", "doubts", "busy", "sureness", "tally"}
SURFACES = ("cli", "report", "serving")
"""Packages whose names are checked."""
PUBLIC = (
    "num_pictures",
    "unreadable_picture",
    "docs/pictures",
    "](pictures/",
    '"pictures"',
    "`pictures`",
    "pictures: uint8",
    "pictures: ImageCard",
    "pictures=",
)
"""Keys of HTTP, ONNX and older model folders, and paths of files."""


def names_in(tree):
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def test_names_are_nouns():
    found = [
        f"{path.name}: {name}"
        for surface in SURFACES
        for path in (ROOT / "src" / "onepeak" / surface).rglob("*.py")
        for name in names_in(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_").lower() in PARTICIPLES
    ]
    assert found == []


def test_an_image_is_called_an_image():
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    found = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            for word in PUBLIC:
                line = line.replace(word, "")
            if re.search("picture", line, re.IGNORECASE):
                found.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert found == []
