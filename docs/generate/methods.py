"""A page a method, from its record in the catalog, its docstring and a image of its posterior."""

import json
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import torch

import onepeak
from generate import posteriors
from onepeak.methods.record import MethodRecord

FAMILIES = {
    "plain": "Knows no order",
    "distance": "Losses that know how far a class is from the label",
    "soft-labels": "Targets spread around the label",
    "levels": "Questions “is it above k?”",
    "distribution": "Posteriors of a given form",
    "constraint": "Constraints on neighbouring scores",
}

_PAGE = """# {name}: {title}

| | |
|---|---|
| family | {family} |
| outputs of the network, for c classes | {outputs} |
| one peak by construction | {unimodal} |
| prediction | {decision} |
| settings | {settings} |
| can be put under a constraint | {constrained} |
| reference | {reference} |

**Use it when** {use}

**Avoid it when** {avoid}{rank}

```python
method = onepeak.method("{name}", num_classes=8)
```

## The posterior

![Bars: three posteriors of {name}; line with dots: the true ones]({image})

Bars are the posteriors of a small network after {steps} steps on a planted problem of {classes} classes, at three
inputs; the line is the truth there. On new data: {found}.

## Definition

{definition}
"""

_ADVICE = {
    "plain": (
        "the shape of the posterior must stay free, or as the baseline that every ordinal method is measured against.",
        "far mistakes are worse than near ones: it does not know that classes are ordered.",
    ),
    "distance": (
        "you report an error that grows with distance, and nobody reads the posterior.",
        "the posterior must be consistent: most of these are no better at that than cross-entropy.",
    ),
    "soft-labels": (
        "labels are uncertain by a class or so, as with several raters.",
        "probabilities are used as trained: they are far too wide until calibrated.",
    ),
    "levels": (
        "a low absolute error is all that counts; most of the lowest errors are of this family.",
        "the posterior itself is read, unless the page says that slopes are accumulated.",
    ),
    "distribution": (
        "one peak must be guaranteed, whatever the network gives.",
        "the true posterior may have two peaks, as with opinions, or a shape that its few parameters cannot take.",
    ),
    "constraint": (
        "posteriors must have one peak and the scores stay free.",
        "training is very short, or classes are few and easily told apart: the margin then costs accuracy.",
    ),
    "peak": (
        "you have no special needs: it is the default of every command.",
        "the true posterior may have two peaks, as with star ratings.",
    ),
    "smooth-slopes": (
        "there are 100 classes or more and few training steps, or consistency matters most.",
        "the very lowest error on one data set counts more than evenness over many.",
    ),
}
"""When to use a method and when not, by its name or its family."""


@cache
def _ranks() -> dict[str, float]:
    """Mean ranks by MAE over the five data sets of results/catalog."""
    import pandas as pd

    runs = pd.read_csv(Path(__file__).parents[2] / "results" / "catalog" / "runs.csv")
    means = runs.groupby(["dataset", "method"])["mae"].mean()
    ranks: dict[str, float] = means.groupby("dataset").rank().groupby("method").mean().rank().to_dict()
    return ranks


def _rank(name: str) -> str:
    ranks = _ranks()
    if name not in ranks:
        return ""
    return (
        f"\n\n**Rank** {ranks[name]:.0f} of {len(ranks)} by mean rank in error on [five data sets]"
        "(../../results/catalog.md), where no two methods differ significantly."
    )


_OBJECT = """```{{eval-rst}}
.. {directive}:: {path}
   :no-index{entry}:
```"""


def write_pages(folder: Path) -> None:
    """Writes a page a method, its image, and the list of all."""
    folder.mkdir(parents=True, exist_ok=True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seen: set[str] = set()
    for record in onepeak.methods():
        _write(folder / f"{record.name}.md", _page(record, folder, seen))
    torch.set_num_threads(threads)
    _write(folder / "index.md", _index(onepeak.methods()))


def defined_by(record: MethodRecord) -> list[Callable[..., object]]:
    """What is to be read on a method: what builds it, and the classes that have its formula."""
    method = onepeak.method(record.name, num_classes=8)
    if isinstance(method, onepeak.Constrained):
        own = [record.build] if record.build.__doc__ else []
        return [*own, onepeak.Constrained, type(method.constraint)]
    build = record.build.func if isinstance(record.build, partial) else record.build
    return [build] if isinstance(build, type) else [build, type(method)]


def _page(record: MethodRecord, folder: Path, seen: set[str]) -> str:
    method = onepeak.method(record.name, num_classes=8)
    return _PAGE.format(
        name=record.name,
        title=record.title,
        family=FAMILIES[record.family],
        outputs=record.num_outputs,
        unimodal="yes" if record.unimodal else "no",
        decision=method.decision,
        settings=", ".join(f"`{name}`" for name in record.settings) or "none of its own",
        constrained=f'yes: `"{record.name}+elb"`' if _has_scores(method) else "no",
        reference=record.reference.replace("|", "\\|"),
        use=_ADVICE.get(record.name, _ADVICE[record.family])[0],
        avoid=_ADVICE.get(record.name, _ADVICE[record.family])[1],
        rank=_rank(record.name),
        image=f"{record.name}.png",
        steps=posteriors.STEPS,
        classes=posteriors.NUM_CLASSES,
        found=_drawn(record, folder),
        definition="\n\n".join(_described(value, seen) for value in defined_by(record)),
    )


def _described(value: Callable[..., object], seen: set[str]) -> str:
    """A class or function from its docstring; links lead to the page where it is first, or to the reference."""
    path = f"{value.__module__}.{value.__qualname__}"
    elsewhere = path in seen or value.__module__.startswith("onepeak.constraints")
    seen.add(path)
    directive = "autoclass" if isinstance(value, type) else "autofunction"
    return _OBJECT.format(directive=directive, path=path, entry="" if elsewhere else "-entry")


def _drawn(record: MethodRecord, folder: Path) -> str:
    """Draws the image; where there is one that is newer than the code, only says again what was found."""
    image, found = folder / f"{record.name}.png", folder / f"{record.name}.json"
    if not (image.exists() and found.exists() and found.stat().st_mtime > _last_change()):
        found.write_text(json.dumps(posteriors.draw(record, image)))
    said: str = json.loads(found.read_text())
    return said


@cache
def _last_change() -> float:
    """When the code behind the images was last written."""
    package = Path(onepeak.__file__).parent
    files = [*(package / "methods").glob("*.py"), *(package / "constraints").glob("*.py"), Path(posteriors.__file__)]
    return max(file.stat().st_mtime for file in files)


def _has_scores(method: onepeak.Method) -> bool:
    try:
        method.class_scores(torch.zeros(1, method.num_outputs))
    except onepeak.errors.InputError:
        return False
    return not isinstance(method, onepeak.Constrained)


def _index(records: Iterable[MethodRecord]) -> str:
    records = list(records)
    lines = ["# Methods", "", _INTRODUCTION.format(count=len(records)), ""]
    for family, title in FAMILIES.items():
        lines += [
            f"## {title}",
            "",
            ":::{table}",
            ":class: references",
            "| name | | outputs | one peak by construction | reference |",
            "|---|---|---|---|---|",
        ]
        for record in records:
            if record.family == family:
                unimodal, reference = "yes" if record.unimodal else "", record.reference.replace("|", "\\|")
                cells = f"[`{record.name}`]({record.name}.md)", record.title, record.num_outputs, unimodal, reference
                lines.append(f"| {' | '.join(cells)} |")
        lines += [":::", ""]
    names = "\n".join(record.name for record in records)
    return "\n".join([*lines, "```{toctree}", ":hidden:", names, "```", ""])


_INTRODUCTION = (
    "{count} methods behind one protocol: `onepeak.method(name, num_classes=c)`. Any with class scores can be put "
    "under a constraint, as in `mv+elb`. `onepeak methods` prints this list, and filters it; which to take is on its "
    "[own page](../../choose.md)."
)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
