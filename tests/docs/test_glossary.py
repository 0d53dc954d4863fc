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


BANNED = {"picture", "pictures", "answer", "answers", "item", "items", "place", "places", "said"}
"""Words that no file, class or function has in its name, but for those in `NAMED`."""
NAMED = {
    # A server answers requests, a worker its tasks, and a level method yes-or-no questions.
    "answers.py",
    "answer",
    "_answer",
    "answers",
    "_answers",
    "Answer",
    "Answers",
    "HeldAnswer",
    "GroupAnswer",
    "SecureAnswers",
    "answer_failures",
    "validation_answers",
    "row_answers",
    "RecordedAnswers",
    "check_same_answers",
    # `Manifest.items` and the key `item` of files and of HTTP.
    "save_trained_items",
    "save_held_out_items",
    "load_trained_items",
    "load_held_out_items",
    "_all_items",
    "_items",
    "num_items",
    "item_digests",
    "FailedItem",
    # Where something is put.
    "place",
    "_places",
    "places",
    "place_on_scale",
}


def test_files_classes_and_functions_are_named_by_the_words_of_the_glossary():
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    names = {node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, kinds)}
    names |= {path.name for path in MODULES}
    words = {name: set(re.findall(r"[a-z]+", re.sub(r"(?=[A-Z])", "_", name).lower())) for name in names}
    assert {name for name in names if words[name] & BANNED} <= NAMED
    given = {name for tree in trees.values() for name in names_in(tree) if "picture" in name.lower()}
    assert given <= {"pictures", "num_pictures", "unreadable_picture"}
