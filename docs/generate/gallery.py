"""The gallery: every script of `docs/gallery` is run, and shown with what it prints and draws."""

import ast
import contextlib
import io
import runpy
import sys
from pathlib import Path

import onepeak

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "pictures"))

from svg import INK, plain, save  # noqa: E402 - found by the line above

ORDER = ("train", "project", "decide", "calibrate", "intervals")

_PAGE = """# Gallery

Short examples on small data. Each is run when this page is built, and by the tests; copy it and change it.

{examples}
"""
_EXAMPLE = """## {title}

{text}

![{title}](gallery/{name}.svg)

```text
{printed}
```

```{{literalinclude}} {source}
:language: python
:lines: {first}-
```
"""


def write_page(folder: Path) -> None:
    """Writes gallery.md and its figures; an example that is older than its figure is not run again."""
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    examples = "\n".join(_example(name, folder) for name in ORDER)
    text = _PAGE.format(examples=examples)
    path = folder / "gallery.md"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def run(path: Path) -> tuple[str, dict[str, object]]:
    """Runs a script; gives what it prints and its names."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(str(path))
    return printed.getvalue().rstrip(), names


def _example(name: str, folder: Path) -> str:
    source = HERE / "gallery" / f"{name}.py"
    module = ast.parse(source.read_text(encoding="utf-8"))
    title, _, text = (ast.get_docstring(module) or "").partition("\n\n")
    image, kept = folder / "gallery" / f"{name}.svg", folder / "gallery" / f"{name}.txt"
    newest = max(source.stat().st_mtime, Path(onepeak.__file__).stat().st_mtime)
    if not (kept.exists() and kept.stat().st_mtime > newest):
        printed, names = run(source)
        figure = names["figure"]
        for axes in figure.axes:  # type: ignore[attr-defined]
            _inked(axes)
        save(figure, image)  # type: ignore[arg-type]
        kept.write_text(printed, encoding="utf-8")
    return _EXAMPLE.format(
        title=title.rstrip("."),
        text=text,
        name=name,
        printed=kept.read_text(encoding="utf-8"),
        source=f"../gallery/{name}.py",
        first=(module.body[0].end_lineno or 0) + 2,
    )


def _inked(axes: object) -> None:
    """Text and lines in the ink that a dark page shows light."""
    plain(axes)  # type: ignore[arg-type]
    legend = axes.get_legend()  # type: ignore[attr-defined]
    texts = [axes.xaxis.label, axes.yaxis.label, *axes.texts]  # type: ignore[attr-defined]
    if legend is not None:
        legend.get_frame().set_alpha(0)
        texts += legend.get_texts()
    for text in texts:
        text.set_color(INK)
