"""The pages and notebooks of the documentation and the blocks of code in them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if not {"_build", "_generated"} & set(page.parts))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line that the text begins on."""

    page: Path
    language: str
    text: str
    line: int

    @property
    def commands(self):
        """The lines of a shell, comments and continuations taken care of."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in (re.sub(r"(^|\s)#.*$", "", each).strip() for each in lines) if line]


def cells(notebook):
    """The cells of code of a notebook; one of commands, `!onepeak ...` or `%cd ...`, is a block of a shell."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            shell = text.startswith(("!", "%"))
            yield Block(notebook, "bash" if shell else "python", re.sub("^[!%]", "", text, flags=re.M), line=1)


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, found[1], found[2], line=text[: found.start(2)].count("\n") + 1) for found in _FENCE.finditer(text)
    ]
