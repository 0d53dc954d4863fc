"""Generates the pages on the paper's FG-NET experiment from the committed records: tables, sentences and figures.

Run: python benchmarks/fgnet.py            (after benchmarks/keep_records.py has added runs to results/fgnet)
or:  python benchmarks/fgnet.py --check    (writes nothing; fails if a page does not match the records)
Reads results/fgnet/runs (both forms of the methods, any number of splits), results/fgnet-1000/runs (the full 1000
epochs) and results/fgnet-beyond/runs (other methods) if they exist, results/fgnet-posteriors, results/fgnet-ld and
results/fgnet-barrier (settings that were tried), results/paper (the authors' own splits),
results/fgnet/explanations.toml (explanations of differences from printed figures) and the experiments. Writes the text
between `<!-- made: NAME -->` and `<!-- end of made -->` in docs/reproduce.md, docs/paper.md and the README.md of
results/fgnet, results/fgnet-beyond, results/fgnet-barrier and results/paper, the figures in the first two folders, and
docs/pictures/fgnet_posteriors.png.
"""

import argparse
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from reproduction.against import against_table
from reproduction.authors import authors_table, first_place, precision_table
from reproduction.barrier import barrier_table, few_labels_table, read_forms, read_lines
from reproduction.beside import differences, differences_table, paper_table, read_explanations, split_table
from reproduction.beyond import beyond_image, beyond_table, beyond_tests, common_steps, goal, smaller_steps, whole
from reproduction.cost import cost_table, fgnet_cost
from reproduction.epochs import chosen_early, epochs_table, longest_table, plateau_table
from reproduction.findings import claim, in_short, state
from reproduction.images import write_images
from reproduction.order import order_table
from reproduction.runs import read_runs
from reproduction.text import filled
from reproduction.tried import tried_table

PAGES = ("results/fgnet/README.md", "docs/reproduce.md", "docs/paper.md")
BEYOND, BARRIER = "results/fgnet-beyond/README.md", "results/fgnet-barrier/README.md"
AUTHORS = "results/paper/README.md"
"""Separate pages, once there are runs."""


def makers_of(root: Path) -> dict[str, Callable[[], str]]:
    """Returns functions that generate text from the records below a checkout's root, by their name in pages."""
    runs, longer = read_runs(root / "results/fgnet"), longer_runs(root)
    shorter, divided = read_runs(root / "results/fgnet-posteriors"), read_runs(root / "results/fgnet-ld")
    explanations = read_explanations(root / "results/fgnet/explanations.toml")
    found = differences(runs)
    every = runs if longer is None else pd.concat([runs, longer], ignore_index=True)
    beyond = partial(read_runs, root / BEYOND.removesuffix("/README.md"))
    authors, halves = (partial(read_runs, root / "results/paper" / name) for name in ("fgnet", "fgnet-bf16"))
    barrier = partial(read_lines, root / "results/fgnet-barrier/runs.csv")
    return {
        "state": lambda: state(runs),
        "in-short": lambda: in_short(runs, found, explanations),
        "claim": lambda: claim(runs),
        "paper-table": lambda: paper_table(runs),
        "differences": lambda: differences_table(found, explanations),
        "by-split": lambda: split_table(runs),
        "against-elb": lambda: against_table(runs),
        "order": lambda: order_table(runs),
        "chosen-early": lambda: chosen_early(every),
        "epochs": lambda: epochs_table(every),
        "longest": lambda: "None of 1000 epochs yet." if longer is None else longest_table(runs, longer),
        "plateau": lambda: "None of 1000 epochs yet." if longer is None else plateau_table(longer),
        "tried": lambda: tried_table(runs, shorter, divided),
        "fgnet-cost": lambda: fgnet_cost(runs, longer),
        "cost": lambda: cost_table(root / "experiments"),
        "beyond-goal": lambda: goal(whole(beyond())),
        "beyond": lambda: beyond_table(common_steps(whole(beyond()))),
        "beyond-elb": lambda: beyond_tests(common_steps(whole(beyond())), "elb"),
        "beyond-ren": lambda: beyond_tests(common_steps(whole(beyond())), "ren"),
        "beyond-steps": lambda: beyond_table(smaller_steps(whole(beyond()))),
        "beyond-steps-elb": lambda: beyond_tests(smaller_steps(whole(beyond())), "elb-slow"),
        "beyond-steps-ren": lambda: beyond_tests(smaller_steps(whole(beyond())), "ren-slow"),
        "barrier": lambda: barrier_table(barrier(), read_forms(root / "benchmarks/barrier_variants.toml"), beyond()),
        "authors": lambda: authors_table(authors(), runs),
        "authors-first": lambda: first_place(authors()),
        "precision": lambda: precision_table(halves(), runs),
        "barrier-few-labels": lambda: few_labels_table(barrier()),
    }


def longer_runs(root: Path) -> pd.DataFrame | None:
    """Returns the runs of all 1000 epochs, if there are any."""
    folder = root / "results/fgnet-1000"
    return read_runs(folder) if folder.exists() else None


def pages_of(root: Path) -> dict[Path, str]:
    """Returns the pages as generated from the records."""
    makers = makers_of(root)
    names = [*PAGES, *(name for name in (BEYOND, BARRIER, AUTHORS) if (root / name).exists())]
    return {root / name: filled((root / name).read_text(encoding="utf-8"), makers) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is not up to date")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="a checkout; by default this one")
    options = parser.parse_args()
    pages = pages_of(options.root)
    old = [str(path.relative_to(options.root)) for path in pages if path.read_text(encoding="utf-8") != pages[path]]
    if options.check:
        sys.exit(f"Not what the records say: {', '.join(old)}. Run python benchmarks/fgnet.py" if old else 0)
    for path, page in pages.items():
        path.write_text(page, encoding="utf-8", newline="\n")
    folder = options.root / "results/fgnet"
    write_images(read_runs(folder), folder, longer=longer_runs(options.root))
    if (beyond := options.root / BEYOND).exists():
        beyond_image(whole(read_runs(beyond.parent))).savefig(beyond.with_name("error-peaks.png"))
    runpy.run_path(str(options.root / "docs/pictures/fgnet_posteriors.py"), run_name="__main__")
    print(f"pages changed: {', '.join(old) or 'none'}")


if __name__ == "__main__":
    main()
