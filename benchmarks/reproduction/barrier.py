"""What was tried under the log-barrier: every variant with its settings and figures, including failures."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from reproduction import beyond
from reproduction.runs import DATASET, NUM_CLASSES
from reproduction.text import MISSING, number, table

Settings = Mapping[str, float | str]
DEFAULTS: Settings = {
    "ce": 0.0,
    "rps": 0.0,
    "barrier": 1.0,
    "t": 1.0,
    "cost": "log",
    "growth": 1.001,
    "reach": 0,
    "even": 0.0,
    "passes": 1,
    "accumulated": False,
}
"""The defaults of `barrier_variants.BarrierVariant`."""
REFERENCES: dict[str, Settings | None] = {
    "elb-averaged": {"ce": 1.0},
    "smooth-elb-averaged": {"ce": 1.0, "reach": NUM_CLASSES},
    "rps+elb-averaged": {"rps": 0.3},
    "smooth-slopes-averaged": None,
}
"""References from results/fgnet-beyond, trained alike; None if there is no barrier."""
SHOWN = {
    "valid_mae": beyond.SHOWN["valid_mae"],
    "valid_unimodal": ("validation one-peaked %", 1, 100),
    **{name: shown for name, shown in beyond.SHOWN.items() if name not in ("valid_mae", "test_rps")},
}
"""As on the page of the ten splits, plus the share with one peak in validation."""


def read_lines(path: Path) -> pd.DataFrame:
    """Reads one line per run, as written by `barrier_variants.py table`; columns are named as in `read_results`."""
    return pd.read_csv(path).rename(columns={f"{name}_tempered": f"test_{name}_calibrated" for name in ("rps", "nll")})


def read_forms(experiment: Path) -> dict[str, Settings]:
    """Reads the settings of every variant, by its label."""
    methods = tomllib.loads(experiment.read_text(encoding="utf-8"))["methods"]
    return {entry["label"]: entry["settings"] for entry in methods}


def barrier_table(lines: pd.DataFrame, forms: Mapping[str, Settings], ten_splits: pd.DataFrame) -> str:
    """Means over splits, lowest validation error first.

    Args:
        lines: From `read_lines`.
        forms: From `read_forms`.
        ten_splits: The runs of results/fgnet-beyond; the references are taken from them, on the same splits.
    """
    lines = lines[lines["dataset"] == DATASET]
    known = ten_splits[ten_splits["label"].isin(list(REFERENCES)) & ten_splits["split"].isin(lines["split"])]
    means = pd.concat([lines, known]).groupby("label")[list(SHOWN)].mean().sort_values("valid_mae")
    settings = {**forms, **REFERENCES}
    rows = []
    for label, own in means.iterrows():
        name = f"`{label}`" if label in REFERENCES else ""  # a variant is identified by its settings
        figures = (number(by * own[column], digits) for column, (_, digits, by) in SHOWN.items())
        rows.append((*_described(settings[str(label)]), *figures, name))
    header = ("CE", "RPS", "barrier", "cost of a gap", "t", "smoothed over")
    return table((*header, *(title for title, _, _ in SHOWN.values()), "method"), rows)


def few_labels_table(lines: pd.DataFrame) -> str:
    """Error and tempered RPS of every method on the other data sets, averaged over folds."""
    others = lines[lines["dataset"] != DATASET]
    means = others.groupby(["label", "dataset"])[["test_mae", "test_rps_calibrated"]].mean()
    sets = list(dict.fromkeys(others["dataset"]))
    rows = [
        (
            f"`{label}`",
            *(" / ".join(number(value, 3) for value in means.loc[(label, name)]) for name in sets),
        )
        for label in dict.fromkeys(others["label"])
    ]
    return table(("MAE / RPS, tempered", *sets), rows)


def _described(settings: Settings | None) -> tuple[str, ...]:
    """The cells of a variant: the weights of its terms, the cost, t at the first and last of 60 epochs, the reach."""
    if settings is None:
        return (MISSING,) * 6
    found = {**DEFAULTS, **settings}
    weights = (f"{found[name]:g}" if found[name] else MISSING for name in ("ce", "rps", "barrier"))
    first, growth, reach = float(found["t"]), float(found["growth"]), float(found["reach"])
    last = first * growth**59
    t = f"{first:g}" if last < 1.1 * first else f"{first:g} to {last:.1f}"
    smoothed = "all" if reach >= NUM_CLASSES else f"{reach:g}" if reach else MISSING
    smoothed += ", twice" if found["passes"] == 2 else ", accumulated" if found["accumulated"] else ""
    smoothed += {0.0: "", 0.5: ", even shares", 1.0: ", sums"}[float(found["even"])]
    return (*weights, str(found["cost"]), t, smoothed)
