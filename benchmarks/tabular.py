"""OrdinalClassifier compared with other ordinal estimators on small tables, on the same folds.

Run: python benchmarks/tabular.py FILE.csv... [--folds N] [--seed N] [--only NAME...]
Method: stratified folds, drawn once per table from the seed; every estimator with its own defaults, peers behind a
StandardScaler because ours standardises internally. Figures are means over the test folds. SOI and one-peaked refer to
the posterior of `predict_proba`, at the label of `predict`; ties break the order. A dash: the estimator gives no
probabilities. Seconds are CPU time of one fit on one thread, so other work on the machine does not count; set
OMP_NUM_THREADS=1 for peers that start their own threads.

A file has one header row, features in all columns but the last, and class indices in the last one. A header shorter
than the rows is fine, as in the ORCA sets: rows, features, class names.
"""

import argparse
import csv
import importlib
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onepeak import OrdinalClassifier
from onepeak.metrics import functional
from onepeak.posterior import is_unimodal

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

COLUMNS = {"MAE": 3, "accuracy": 3, "QWK": 3, "SOI %": 1, "one-peaked %": 1, "RPS": 3, "CPU seconds": 2}
"""The columns shown, with their number of decimals."""


class OrderedLogit(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """statsmodels' proportional odds model as a classifier."""

    def fit(self, X: Floats, y: Labels) -> "OrderedLogit":  # noqa: N803
        """Maximum likelihood by BFGS."""
        model = importlib.import_module("statsmodels.miscmodels.ordinal_model").OrderedModel
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.result_ = model(codes, X, distr="logit").fit(method="bfgs", disp=False, maxiter=500)
        return self

    def predict_proba(self, X: Floats) -> Floats:  # noqa: N803
        """The posterior."""
        return np.asarray(self.result_.model.predict(self.result_.params, exog=X))

    def predict(self, X: Floats) -> Labels:  # noqa: N803
        """The mode."""
        labels: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


def peer(module: str, name: str, *arguments: Any) -> Callable[[], Any]:
    """Returns a function that makes an estimator of another package, behind a scaler."""
    return lambda: make_pipeline(StandardScaler(), getattr(importlib.import_module(module), name)(*arguments))


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "onepeak elb": lambda: OrdinalClassifier("elb", random_state=0),
    "onepeak elb, median": lambda: OrdinalClassifier("elb", decide="median", random_state=0),
    "onepeak slopes": lambda: OrdinalClassifier("slopes", random_state=0),
    "onepeak ce": lambda: OrdinalClassifier("ce", random_state=0),
    "mord LogisticAT": peer("mord", "LogisticAT"),
    "mord LogisticIT": peer("mord", "LogisticIT"),
    "mord OrdinalRidge": peer("mord", "OrdinalRidge"),
    "statsmodels OrderedModel": lambda: make_pipeline(StandardScaler(), OrderedLogit()),
    "skordinal POM": peer("skordinal.classifiers", "POM"),
    "skordinal NNPOM": peer("skordinal.classifiers", "NNPOM"),
    "skordinal SVOR": peer("skordinal.classifiers", "SVOR"),
    "sklego OrdinalClassifier(LogisticRegression)": peer("sklego.meta", "OrdinalClassifier", LogisticRegression()),
    "sklearn LogisticRegression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "sklearn HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def read(path: Path) -> tuple[Floats, Labels]:
    with path.open() as file:
        numbers = np.array(list(csv.reader(file))[1:], dtype=np.float64)
    return numbers[:, :-1], numbers[:, -1].astype(np.int64)


def posterior(model: Any, rows: Floats, classes: Labels, num_classes: int) -> torch.Tensor | None:
    """Log-probabilities over all classes, including those missing from the training fold; None if not available."""
    if not hasattr(model, "predict_proba"):
        return None
    probs = np.zeros((len(rows), num_classes))
    probs[:, classes] = model.predict_proba(rows)
    probs = np.clip(probs, 0, None)  # rounding may make a difference of cumulative probabilities negative
    return torch.from_numpy(probs / probs.sum(axis=1, keepdims=True)).log()


def measure(make: Callable[[], Any], train: tuple[Floats, Labels], test: tuple[Floats, Labels], c: int) -> list[float]:
    """Returns the figures of one fold, in the order of `COLUMNS`; NaN for those that need missing probabilities."""
    model = make()
    start = time.process_time()
    model.fit(*train)
    seconds = time.process_time() - start
    predicted, labels = torch.tensor(np.asarray(model.predict(test[0]), dtype=np.int64)), torch.tensor(test[1])
    log_probs = posterior(model, test[0], np.unique(train[1]), c)
    shown = [
        functional.mean_absolute_error(predicted, labels),
        functional.accuracy(predicted, labels),
        functional.quadratic_weighted_kappa(predicted, labels, num_classes=c),
    ]
    order = [torch.tensor(torch.nan)] * 3
    if log_probs is not None:
        order = [
            100 * functional.side_order_index(log_probs, predicted).mean(),
            100 * is_unimodal(log_probs).double().mean(),
            functional.ranked_probability_score(log_probs, labels).mean(),
        ]
    return [float(figure) for figure in (*shown, *order)] + [seconds]


def compare(path: Path, names: list[str], *, num_folds: int, seed: int) -> None:
    rows, labels = read(path)
    num_classes = int(labels.max()) + 1
    folds = list(StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(rows, labels))
    print(f"\n## {path.stem}: {len(rows)} rows, {rows.shape[1]} columns, {num_classes} classes, {num_folds} folds\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1))
    for name in names:
        figures = []
        for train, test in folds:
            parts = (rows[train], labels[train]), (rows[test], labels[test])
            figures.append(measure(ESTIMATORS[name], *parts, num_classes))
        means = zip(np.mean(figures, axis=0), COLUMNS.values(), strict=True)
        shown = ["-" if np.isnan(mean) else f"{mean:.{decimals}f}" for mean, decimals in means]
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(ESTIMATORS), default=list(ESTIMATORS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    # Peers warn of unfinished optimisation and deprecated interfaces; the figures show what their defaults reach.
    warnings.simplefilter("ignore")
    for path in given.files:
        compare(path, given.only, num_folds=given.folds, seed=given.seed)


if __name__ == "__main__":
    main()
