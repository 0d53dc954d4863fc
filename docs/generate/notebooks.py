"""A page a notebook of `docs/notebooks`, with its file to download; the tests run every cell."""

import json
from pathlib import Path

HERE = Path(__file__).parents[1] / "notebooks"
ORDER = ("training-loop", "command-line", "own-method")

_DOWNLOAD = "{{download}}`Download this notebook <../../notebooks/{name}.ipynb>`.\n"


def write_pages(folder: Path) -> None:
    """Writes the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ORDER:
        path, text = folder / f"{name}.md", _page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _page(name: str) -> str:
    cells = json.loads((HERE / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    parts = [_shown(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n".join([parts[0], _DOWNLOAD.format(name=name), *parts[1:]])


def _shown(kind: str, text: str) -> str:
    if kind == "markdown":
        return f"{text}\n"
    return f"```{'text' if text.startswith(('!', '%')) else 'python'}\n{text}\n```\n"
