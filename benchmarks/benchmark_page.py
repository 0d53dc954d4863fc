"""The page of results/benchmark: its tables, ranks-mae.png, ranks-qwk.png, ranks-rps_calibrated.png and benchmark.png.

All are made from runs.csv.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from onepeak.experiment.statistics import (
    RankComparison,
    compare_ranks,
    corrected_t_test,
    holm,
    paired,
    wilcoxon,
)
from onepeak.report.tables import critical_difference_diagram
from reproduction.text import MISSING, filled, number, p_value, table

HERE = Path(__file__).parents[1]
FOLDER = HERE / "results/benchmark"
RUNS = FOLDER / "runs.csv"
PAGES = (FOLDER / "README.md",)

SETS = {
    "fgnet": "FG-NET, ages",
    "afad-lite": "AFAD-Lite, ages",
    "iciar": "BACH, breast tissue",
    "deepdrid": "DeepDRiD, retinas",
    "coffee": "Coffee leaves",
    "biopsies": "Biopsies, generated",
    "esl": "ESL, table",
    "lev": "LEV, table",
    "swd": "SWD, table",
    "balance_scale": "Balance-scale, table",
}
"""Titles of the data sets, in the order of the page."""
FROZEN = "-frozen"
"""Ends the name of a set whose backbone was frozen; it counts until the set's networks were trained whole."""
STEPS = {
    "elb": "`elb`, the paper's",
    "smooth-elb": "+ averaged scores",
    "smooth-elb-t-3": "+ t = 3 from the start",
    "peak": "+ ranked probability score = `peak`",
    "smooth-ce+rps": "`peak` without its barrier",
}
"""The steps from the paper's method to peak; all but the first and `peak` are shown for that only."""
OWN = "peak"
RIVALS = ("ce", "elb")
RANKED = {"mae": ("MAE", False), "qwk": ("QWK", True), "rps_calibrated": ("calibrated RPS", False)}
"""The metrics that methods are ranked by: title, and whether higher is better."""
ORDER, PEAKED = 0.999, 0.98
"""What is asked of peak on every set: pairs in order, and posteriors with one peak."""


def title_of(name: str) -> str:
    """The title of a set, which says whether its backbone was frozen."""
    title = SETS[name.removesuffix(FROZEN)]
    return f"{title}, frozen" if name.endswith(FROZEN) else title


class Benchmark:
    """The runs that count: every method with the learning rate chosen for it, on folds that all methods have."""

    def __init__(self, runs: pd.DataFrame) -> None:
        known = set(runs["set"])
        forms = [name if name in known else name + FROZEN for name in SETS]
        self.sets = [name for name in forms if name in known]
        self.runs = pd.concat(
            [whole_folds(own.merge(chosen_rates(own))) for own in (runs[runs["set"] == name] for name in self.sets)]
        )
        steps = [name for name in STEPS if name not in ("elb", OWN)]
        self.means = self.runs.groupby(["set", "method"])[[*RANKED, "soi_predicted", "unimodal"]].mean()
        on_all = self.means["mae"].unstack("set").dropna().index
        self.methods = [name for name in dict.fromkeys(self.runs["method"]) if name in on_all and name not in steps]

    def ranks(self, metric: str) -> RankComparison:
        """Mean ranks over sets, of the methods without the steps."""
        values = self.means[metric].unstack("method")[self.methods]
        return compare_ranks(values.to_numpy(), tuple(self.methods), higher_is_better=RANKED[metric][1])

    def makers(self) -> dict[str, Callable[[], str]]:
        """Functions that make text, by their name in the page."""
        return {
            "sets": self.sets_table,
            "ranks": self.ranks_table,
            "goals": self.goals,
            "rivals": self.rivals_table,
            "steps": self.steps_table,
            "by-set": self.tables_by_set,
        }

    def sets_table(self) -> str:
        """Sizes of the data sets."""
        lines = []
        for name in self.sets:
            of = self.runs[self.runs["set"] == name]
            first, folds = of.iloc[0], len(of.drop_duplicates(["split", "fold"]))
            sizes = [f"{first[column]:,}" for column in ("num_classes", "num_train", "num_valid", "num_test")]
            lines.append((title_of(name), *sizes, str(folds)))
        return table(("set", "classes", "training", "validation", "test", "splits"), lines)

    def ranks_table(self) -> str:
        """One line per method, the best mean of its ranks first."""
        found = {metric: self.ranks(metric) for metric in RANKED}
        ranks = {metric: dict(zip(each.methods, each.mean_ranks, strict=True)) for metric, each in found.items()}
        together = pd.DataFrame(ranks).mean(axis=1).sort_values(kind="stable")
        lines = []
        for name in together.index:
            own = self.means.xs(name, level="method")
            shares = [f"{100 * own[of].mean():.1f} ({100 * own[of].min():.1f})" for of in ("soi_predicted", "unimodal")]
            lines.append((f"`{name}`", *(number(ranks[metric][name], 1) for metric in RANKED), *shares))
        titles = [f"rank in {title}" for title, _ in RANKED.values()]
        return table(("method", *titles, "pairs in order, % (lowest)", "one peak, % (lowest)"), lines)

    def goals(self) -> str:
        """What was asked of peak, and whether it came."""
        lines = []
        for metric in RANKED:
            found = self.ranks(metric)
            place = found.methods.index(OWN) + 1
            word = (
                "**met**" if place == 1 else f"**missed**: place {place}, after {', '.join(found.methods[: place - 1])}"
            )
            lines.append(
                f"- Lowest mean rank in {RANKED[metric][0]}: {word} (Friedman's p {p_value(found.p_value)}; "
                f"critical difference {number(found.critical_difference, 1)})."
            )
        for rival in RIVALS:
            better, p = self.against(rival)
            met = "**met**" if better > len(self.sets) / 2 and p < 0.05 else "**missed**"
            lines.append(
                f"- Lower MAE than `{rival}` on most sets, and significantly over all: {met} "
                f"({better} of {len(self.sets)} sets; Wilcoxon's p over sets {p_value(p)})."
            )
        own = self.means.xs(OWN, level="method")
        for column, level, title in (("soi_predicted", ORDER, "pairs in order"), ("unimodal", PEAKED, "one peak")):
            below = [
                f"{title_of(name)} {100 * own[column][name]:.2f} %" for name in self.sets if own[column][name] < level
            ]
            word = f"**missed** on {', '.join(below)}" if below else "**met**"
            lines.append(f"- {title.capitalize()} in at least {100 * level:g} % on every set: {word}.")
        return "\n".join(lines)

    def against(self, rival: str) -> tuple[int, float]:
        """The number of sets on which peak's MAE is lower, and the p-value of relative differences over sets."""
        errors = np.log(self.means["mae"].unstack("method"))
        differences = (errors[OWN] - errors[rival]).to_numpy()
        return int((differences < 0).sum()), wilcoxon(differences).p_value

    def rivals_table(self) -> str:
        """Differences of peak's MAE to its rivals', set by set."""
        found = []
        for rival in RIVALS:
            for name in self.sets:
                of = self.runs[self.runs["set"] == name].rename(columns={"method": "label"})
                pairs = paired(of, "mae", OWN, rival)
                p = corrected_t_test(pairs.differences, test_train_ratio=pairs.test_train_ratio)
                found.append((rival, name, float(pairs.differences.mean()), p))
        corrected = holm([p for *_, p in found])
        lines = [
            (title_of(name), f"`{rival}`", number(difference, 3, signed=True), p_value(p), p_value(after))
            for (rival, name, difference, p), after in zip(found, corrected, strict=True)
        ]
        return table(("set", "against", "difference of MAE", "p", "p after Holm"), lines)

    def steps_table(self) -> str:
        """MAE, order and one peak along the steps to peak, over sets that have them all."""
        lines = []
        for name, title in STEPS.items():
            cells = []
            for of in self.sets:
                own = self.means.xs(of, level="set")
                if name not in own.index:
                    cells.append(MISSING)
                    continue
                error, order, peaked = (own[column][name] for column in ("mae", "soi_predicted", "unimodal"))
                cells.append(f"{error:.3g} / {100 * order:.1f} / {100 * peaked:.0f}")
            lines.append((title, *cells))
        return table(("step", *(title_of(name) for name in self.sets)), lines)

    def tables_by_set(self) -> str:
        """Every method on every set."""
        parts = []
        for name in self.sets:
            own = self.runs[self.runs["set"] == name]
            means, spreads = (
                own.groupby("method")[["mae", "qwk", "rps_calibrated"]].agg(how) for how in ("mean", "std")
            )
            rates = own.drop_duplicates("method").set_index("method")["lr"]
            lines = []
            for method in means.sort_values("mae").index:
                mean, spread = means.loc[method], spreads.loc[method]
                order = self.means.xs(name, level="set").loc[method]
                figures = [f"{mean[metric]:.3f} ± {spread[metric]:.3f}" for metric in means.columns]
                shares = [f"{100 * order[column]:.1f}" for column in ("soi_predicted", "unimodal")]
                lines.append((f"`{method}`", f"{rates[method]:g}", *figures, *shares))
            header = ("method", "learning rate", "MAE", "QWK", "calibrated RPS", "pairs in order, %", "one peak, %")
            parts.append(f"### {title_of(name)}\n\n{table(header, lines)}")
        return "\n\n".join(parts)

    def figures(self) -> dict[str, Figure]:
        """Figures by file name."""
        diagrams = {
            f"ranks-{metric}.png": critical_difference_diagram(self.ranks(metric), title=f"mean rank by {title}")
            for metric, (title, _) in RANKED.items()
        }
        return {**diagrams, "benchmark.png": self.picture()}

    def picture(self) -> Figure:
        """Every method by its error and its order: low and to the right is where to be."""
        figure = Figure(figsize=(7.5, 4.6), dpi=130, layout="constrained")
        axes = figure.subplots()
        ranks = self.ranks("mae")
        for name, rank in zip(ranks.methods, ranks.mean_ranks, strict=True):
            out_of_order = 100 * (1 - self.means.xs(name, level="method")["soi_predicted"].mean())
            colour, weight = ("#e45756", "bold") if name == OWN else ("#4c78a8", "normal")
            axes.scatter(rank, out_of_order, color=colour, s=46 if name == OWN else 26)
            axes.annotate(
                name, (rank, out_of_order), (5, 4), textcoords="offset points", color=colour, fontsize=9, weight=weight
            )
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(60, -0.03)
        axes.set_yticks([0, 0.1, 1, 10, 50], ["0", "0.1", "1", "10", "50"])
        axes.set_xlabel(f"mean rank by absolute error over {len(self.sets)} data sets (1 = lowest error on all)")
        axes.set_ylabel("neighbouring classes in the wrong order, %")
        axes.spines[["top", "right"]].set_visible(False)
        return figure


def chosen_rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the learning rate of each method: the one with the lowest validation MAE on the first split."""
    first = runs[(runs["split"] == 0) & (runs["fold"] == 0)]
    return first.sort_values(["method", "valid_mae", "lr"]).drop_duplicates("method")[["method", "lr"]]


def whole_folds(runs: pd.DataFrame) -> pd.DataFrame:
    """Keeps the folds that every method has: means over different folds would not be comparable."""
    counts = runs.groupby(["split", "fold"])["method"].transform("nunique")
    return runs[counts == runs["method"].nunique()]


def write_page(*, check: bool) -> None:
    """Fills the pages and draws the figures; with `check`, only compares the text."""
    benchmark = Benchmark(pd.read_csv(RUNS))
    pages = {path: filled(path.read_text(encoding="utf-8"), benchmark.makers()) for path in PAGES}
    old = [str(path.relative_to(HERE)) for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    if check:
        sys.exit(f"Not what the runs say: {', '.join(old)}. Run python benchmarks/benchmark.py page" if old else 0)
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for name, figure in benchmark.figures().items():
        figure.savefig(FOLDER / name, dpi=110, bbox_inches="tight")
    print(f"changed: {', '.join(old) or 'none'}")
