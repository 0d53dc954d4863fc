"""The figures: learning curves (the paper's fig. 2), error against order, overlaid posteriors."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from onepeak._core.wording import counted
from onepeak.experiment.published import published_figure
from onepeak.experiment.results import PREDICTIONS, read_history, read_predictions
from onepeak.metrics.functional import side_order_chance
from onepeak.report.figures.canvas import Printed
from onepeak.report.figures.curves import Curve, printed_curves
from onepeak.report.figures.overlay import most_common_label, printed_overlay
from onepeak.report.figures.tradeoff import Scores, printed_tradeoff
from onepeak.report.palette import styles
from onepeak.report.prediction_summary import PredictionSummary, TestPart
from reproduction.epochs import EVERY
from reproduction.runs import DATASET, NUM_CLASSES, of_the_paper

IN_FIGURE_2 = ("ce", "pn", "elb")
SHOWN = 40
"""Number of overlaid posteriors per method."""
FARTHEST = 9.0
"""MAE at the right end of the figure; the printed LD is at 18.25."""


def write_images(runs: pd.DataFrame, folder: Path, *, longer: pd.DataFrame | None = None) -> None:
    """Writes curves.png, tradeoff.png, posteriors.png, and curves-1000.png if there are runs of all 1000 epochs.

    Args:
        runs: From `read_runs`.
        folder: The folder to write to.
        longer: Runs of all 1000 epochs.
    """
    _save(curves_image(runs), folder / "curves.png")
    if longer is not None:
        _save(curves_image(longer), folder / "curves-1000.png")
    _save(tradeoff_image(runs), folder / "tradeoff.png")
    if tallies := tallied(runs):
        _save(overlay_image(tallies), folder / "posteriors.png")


def mean_course(runs: pd.DataFrame, column: str) -> Curve:
    """Mean and deviation over the runs of a row, at every tenth epoch that all of them reached.

    Epochs that were kept because they are the best are left out: they would bias the curve.
    """
    histories = [read_history(folder).set_index("epoch")[column] for folder in runs["folder"]]
    every = pd.concat(histories, axis=1)
    every = every[every.index % EVERY == 0].sort_index().dropna()
    mean = every.mean(axis=1).to_numpy(dtype=np.float64)
    std = every.std(axis=1).fillna(0.0).to_numpy(dtype=np.float64)
    return Curve(epochs=every.index.to_numpy(dtype=np.int64), mean=mean, low=mean - std, high=mean + std)


def curves_image(runs: pd.DataFrame) -> Printed:
    """Validation MAE and SOI over the epochs for CE, PN and ELB."""
    own = _corrected(runs)
    rows = {method: own[own["method"] == method] for method in IN_FIGURE_2}
    named = {method: f"{method.upper()} ({counted(len(row), 'run')})" for method, row in rows.items() if len(row)}
    mae, soi = (
        {name: mean_course(rows[method], column) for method, name in named.items()}
        for column in ("valid_mae", "valid_soi_predicted")
    )
    looks = styles({name: method for method, name in named.items()})
    return printed_curves(mae, soi, looks, chance=side_order_chance(NUM_CLASSES))


def tradeoff_image(runs: pd.DataFrame) -> Printed:
    """Error against order of the seven methods; hollow marks are the printed figures."""
    own = _corrected(runs)
    scores = {
        str(name): Scores(mae=row["test_mae"].to_numpy(), soi=row["test_soi_predicted"].to_numpy())
        for name, row in own.groupby("name", sort=False)
    }
    methods = dict(zip(own["name"], own["method"], strict=True))
    looks = styles(methods)
    others = {}
    for name, method in methods.items():
        mae, soi = (published_figure(DATASET, method, metric) for metric in ("mae", "soi_predicted"))
        if mae is not None and soi is not None and mae.mean < FARTHEST:
            others[name] = (mae.mean, soi.mean)
    image = printed_tradeoff(scores, looks, chance=side_order_chance(NUM_CLASSES), others=others)
    image.axes[0].set_xlabel("MAE (hollow: as printed; LD's 18.25 lies outside)", fontsize=8)
    return image


def tallied(runs: pd.DataFrame) -> dict[str, PredictionSummary]:
    """The test predictions of each method on the first split for which all have kept them."""
    own = _corrected(runs)
    examples_of_label = own[[Path(folder, PREDICTIONS).exists() for folder in own["folder"]]]
    if examples_of_label.empty:
        return {}
    first = examples_of_label[examples_of_label["split"] == examples_of_label["split"].min()]
    found = {}
    for name, folder, split, fold in zip(first["name"], first["folder"], first["split"], first["fold"], strict=True):
        part = TestPart(**read_predictions(folder, columns=("item", "label", "predicted", "log_probs"), part="test"))
        found[str(name)] = PredictionSummary(num_classes=NUM_CLASSES, examples_per_run=SHOWN, most_examples=SHOWN)
        found[str(name)].add(part, split=split, fold=fold)
    return found


def overlay_image(tallies: Mapping[str, PredictionSummary]) -> Printed:
    """Posteriors of the most frequently predicted label."""
    posteriors = {name: prediction_summary.posteriors for name, prediction_summary in tallies.items()}
    label = most_common_label(
        posteriors, {name: prediction_summary.confusion.sum(axis=0) for name, prediction_summary in tallies.items()}
    )
    ages = [str(age) for age in range(NUM_CLASSES)]
    return printed_overlay(posteriors, ages, styles({name: name.lower() for name in tallies}), label=label)


def _corrected(runs: pd.DataFrame) -> pd.DataFrame:
    own = of_the_paper(runs)
    return own[own["variant"] == "corrected"]


def _save(image: Printed, path: Path) -> None:
    image.savefig(path, dpi=130, metadata={"Software": None})
