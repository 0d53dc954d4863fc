"""Makes the pages on the paper from the committed records: its tables and figures, and how far they agree.

Run: python benchmarks/paper.py            (after benchmarks/keep_records.py has added runs)
or:  python benchmarks/paper.py --check    (writes nothing; fails if a page does not match the records)
Reads results/paper: the folders iciar, hci, afad-lite, afad-full and fgnet (the paper's experiments), those of
`reproduction.tables.CHECKS` and fgnet-lambda (single changes), step-time.json (benchmarks/training.py) and
explanations.toml; and fgnet-code (FG-NET on splits of our own). A folder that is not there is "not run".
Writes the text between `<!-- made: NAME -->` and `<!-- end of made -->` in the pages, results/paper/tables.tex and the
figures in results/paper.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import published_figure
from onepeak.report.tables import latex_table, markdown_table
from reproduction.cost import cost_table
from reproduction.differences import Difference, differences, read_explanations
from reproduction.figures import figure_2_caption, panels, write_figures
from reproduction.records import FORMS, SETS, figure, read_runs, read_sets, row
from reproduction.tables import (
    CHECKS,
    against_table,
    agreement,
    beside_table,
    checks_table,
    choice_of_epoch,
    chosen_early,
    claim,
    conditions,
    first_place,
    gains_table,
    kept_epochs,
    large_differences,
    one_peak,
    overview_table,
    printed_table,
    split_table,
    step_time_table,
    weight_sentence,
)
from reproduction.text import filled

PAGES = ("results/paper/README.md", "docs/reproduce.md", "docs/paper.md", "README.md")
PAPER, OURS, TABLES = "results/paper", "results/paper/fgnet-code", "results/paper/tables.tex"

BESIDE = ("ren-as_published", "smooth-rps+elb", "smooth-slopes", "peak")
"""Rows whose errors are near ELB's."""


class Records:
    """All committed records of the paper's experiments below a checkout's root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sets = read_sets(root / PAPER)
        self.ours = read_runs(root / OURS)
        self.checks = {check.folder: read_runs(root / PAPER / check.folder) for check in CHECKS}
        self.weights = read_runs(root / PAPER / "fgnet-lambda")
        self.explanations = read_explanations(root / PAPER / "explanations.toml")
        self.found: dict[str, list[Difference]] = {name: differences(self.sets[name], name) for name in SETS}
        self.found_ours = differences(self.ours, "fgnet")
        longer = {
            name: [runs for folder, runs in self.checks.items() if folder.removesuffix("-1000") == name]
            for name in SETS
        }
        self.panels = panels({name: [self.sets[name], *longer[name]] for name in SETS})

    def makers(self) -> dict[str, Callable[[], str]]:
        """Functions that make text, by their name in pages."""
        tables = (printed_table(self.sets, which) for which in (1, 2))
        every = pd.concat([runs for runs in (*self.sets.values(), self.ours) if len(runs)], ignore_index=True)
        large = [each for found in self.found.values() for each in found]
        return {
            "tables": lambda: "\n".join(markdown_table(each) for each in tables).rstrip(),
            "conditions": lambda: conditions(self.sets),
            "ours": lambda: beside_table(self.ours, "fgnet"),
            "overview": lambda: overview_table(self.sets, self.found),
            "agreement": lambda: self.agreement(),
            "agreement-ours": lambda: agreement(self.found_ours, self.explanations),
            "differences": lambda: large_differences(large, self.explanations, SETS),
            "claim": lambda: claim(self.sets["fgnet"], "as_published"),
            "first-place": lambda: first_place(self.sets["fgnet"], BESIDE),
            "beside-ren": lambda: first_place(self.sets["fgnet"], BESIDE[:1]),
            "choice": lambda: choice_of_epoch(self.ours),
            "one-peak": lambda: one_peak(self.sets["fgnet"]),
            "figure-caption": lambda: figure_2_caption(self.panels),
            "gains": lambda: gains_table(self.sets),
            "step-time": lambda: step_time_table(self.root / PAPER / "step-time.json"),
            "checks": lambda: checks_table(self.checks, every),
            "weight": lambda: weight_sentence(self.weights),
            "kept-epochs": lambda: kept_epochs(self.sets["fgnet"]),
            "chosen-early": lambda: chosen_early(self.checks["fgnet-1000"]),
            "by-split": lambda: split_table(self.sets["fgnet"]),
            "against-elb": lambda: against_table(self.sets["fgnet"]),
            "missing": lambda: self.missing(),
            "readme": lambda: self.readme(),
            "cost": lambda: cost_table(self.root / "experiments"),
        }

    def agreement(self) -> str:
        """How many figures of each data set agree, one line each."""
        lines = [
            f"- **{SETS[name]}.** {agreement(found, self.explanations)}" for name, found in self.found.items() if found
        ]
        missing = [title for name, title in SETS.items() if not self.found[name] and name != "hci"]
        lacking = f" Not run yet: {', '.join(missing)}." if missing else ""
        return "\n".join([*lines, f"- HCI's images could not be had.{lacking}"])

    def missing(self) -> str:
        """What has not been run, as a sentence."""
        sets = [title for name, title in SETS.items() if self.sets[name].empty and name != "hci"]
        forms = [
            f"{SETS[name]} {title}"
            for name, runs in self.sets.items()
            for form, title in FORMS.items()
            if len(runs) and not any(len(row(runs, method, form)) for method in PAPER_METHODS)
        ]
        changes = [check.title for check in CHECKS if self.checks[check.folder].empty]
        changes += ["PN's weight chosen on validation"] if self.weights.empty else []
        told = [", ".join(names) for names in (forms, sets, changes) if names]
        return f"{'; '.join(told)}; HCI." if told else "HCI, whose images could not be had."

    def readme(self) -> str:
        """What reproduces and what does not, in one line."""
        judged = [
            each
            for found in self.found.values()
            for each in found
            if each.form == "as_published" and each.large is not None
        ]
        done = [title for name, title in SETS.items() if len(self.sets[name])]
        missing = [title for name, title in SETS.items() if self.sets[name].empty]
        order, printed = (
            figure(row(self.sets["fgnet"], "elb", "as_published"), "test_soi_predicted"),
            published_figure("fgnet", "elb", "soi_predicted"),
        )
        assert order is not None
        assert printed is not None
        inside = f"{sum(not each.large for each in judged)} of {len(judged)}"
        return (
            f"**Does the paper reproduce?** On {', '.join(done)}, with methods as published: ELB's order does "
            f"({100 * order.mean:.1f} % of pairs; printed {100 * printed.mean:.1f} %), and {inside} printed figures "
            "are within two standard errors. That ELB's error is the lowest could not be shown. "
            f"Not run: {', '.join(missing)}. [Every figure](docs/reproduce.md)"
        )

    def latex(self) -> str:
        """Both tables for LaTeX."""
        tables = (latex_table(printed_table(self.sets, which)) for which in (1, 2))
        return "% needs \\usepackage{booktabs}\n" + "\n".join(tables)

    def files(self) -> dict[Path, str]:
        """The pages and tables.tex, as made from the records."""
        makers = self.makers()
        pages = {self.root / name: filled((self.root / name).read_text(encoding="utf-8"), makers) for name in PAGES}
        return {**pages, self.root / TABLES: self.latex()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is not up to date")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="a checkout; by default this one")
    options = parser.parse_args()
    records = Records(options.root)
    files = records.files()
    old = [
        str(path.relative_to(options.root))
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if options.check:
        sys.exit(f"Not what the records say: {', '.join(old)}. Run python benchmarks/paper.py" if old else 0)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    write_figures(records.sets, records.panels, options.root / PAPER)
    print(f"changed: {', '.join(old) or 'none'}")


if __name__ == "__main__":
    main()
