"""The glossary of CONTRIBUTING: one word for one thing in names, help, messages and pages."""

import ast
import re

import pytest

from docs.pages import DOCS, ROOT

INSTEAD_OF = {
    "image": r"pictures?",
    "prediction": r"answer(?:s|ed|ing)?|said",
    "sample": r"items?",
    "folder": r"director(?:y|ies)",
    "one peak": r"uni-modal\w*|single-peaked",
    "device": r"hardware",
    "path, folder or position": r"places?",
}
"""The words of the glossary, each with those that are not used for it."""
ALLOWED = {
    "image": r"docs/pictures|\]\(pictures/|pictures: uint8|num_pictures",  # names of files and keys
    # A server answers, and so does who is asked a question.
    "prediction": r"(?:server|method|logits|Wrapped`, which|`) answers?|four answers|every answer but|answered no|"
    "answer the questions|answer a request|request is answered|--answer-seconds",
    # The key of a position in files and over HTTP, and `Manifest.items`.
    "sample": r"max[_-]items|\.items?\b|item [{\d]|^item $|items\.",
    "one peak": r"uni-modality constraints",  # the paper's title
    "path, folder or position": r"in place\b|(?:take|keep)s? (?:its|the) place",
}
"""What may be written all the same, beside code in backquotes."""
EXEMPT = {("prediction", "slopes.md")}
"""There the answers are those to yes-or-no questions."""
MODULES = sorted((ROOT / "src" / "onepeak").rglob("*.py"))
PAGES = [*DOCS.glob("*.md"), ROOT / "README.md"]
PARTICIPLES = {"said", "opened", "typed", "doubts", "sureness", "tally", "kept", "made"}
SURFACES = ("cli", "report", "serving", "_core")
"""Packages whose names are checked."""


def names_in(tree):
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def messages_in(tree):
    """Texts of several words that are no docstrings, as messages and the texts of flags are."""
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in plain:
            yield from [node.value] if " " in node.value.strip() else []


def prose_of(page):
    """The lines of a page but for blocks of code and code within the lines."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"\]\([^)]*\)", "]", line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def texts():
    """What users read, by the file that holds it."""
    found = {path: list(messages_in(ast.parse(path.read_text(encoding="utf-8")))) for path in MODULES}
    found |= {page: prose_of(page) for page in PAGES}
    helped = ROOT / "tests" / "cli" / "help.txt"
    return found | {helped: helped.read_text(encoding="utf-8").splitlines()}


@pytest.mark.parametrize("word", INSTEAD_OF)
def test_one_word_is_used_for_one_thing(word, texts):
    wrong = re.compile(rf"\b(?:{INSTEAD_OF[word]})\b", re.IGNORECASE)
    found = []
    for path, lines in texts.items():
        for line in lines if (word, path.name) not in EXEMPT else ():
            left = re.sub(ALLOWED.get(word, "^$"), "", line)
            if wrong.search(re.sub(r"`[^`]*`", "", left)):
                found.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert found == []


def test_names_are_nouns():
    found = [
        f"{path.name}: {name}"
        for path in MODULES
        if path.parent.name in SURFACES or path.parents[1].name in SURFACES
        for name in names_in(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_").lower() in PARTICIPLES
    ]
    assert found == []


def test_no_name_calls_an_image_a_picture():
    names = {name for path in MODULES for name in names_in(ast.parse(path.read_text(encoding="utf-8")))}
    assert {name for name in names if "picture" in name.lower()} <= {"pictures", "num_pictures", "unreadable_picture"}
