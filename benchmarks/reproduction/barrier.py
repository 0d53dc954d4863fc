"""What was tried under the log-barrier: every form with its settings and its figures, the failures too."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from reproduction import beyond
from reproduction.runs import DATASET, NUM_CLASSES
from reproduction.text import MISSING, number, table

Settings = Mapping[str, float]
DEFAULTS: Settings = {
    "ce": 0.0,
    "rps": 0.0,
    "barrier": 1.0,
    "t": 1.0,
    "growth": 1.001,
    "reach": 0,
    "passes": 1,
    "accumulated": False,
}
"""Those of `barrier_variants.BarrierVariant`."""
REFERENCES: dict[str, Settings | None] = {
    "elb-averaged": {"ce": 1.0},
    "smooth-elb-averaged": {"ce": 1.0, "reach": NUM_CLASSES},
    "rps+elb-averaged": {"rps": 0.3},
    "smooth-slopes-averaged": None,
}
"""Of results/fgnet-beyond, trained alike; without settings where there is no barrier."""
SHOWN = {
    "valid_mae": beyond.SHOWN["valid_mae"],
    "valid_unimodal": ("validation one-peaked %", 1, 100),
    **{name: shown for name, shown in beyond.SHOWN.items() if name not in ("valid_mae", "test_rps")},
}
"""As on the page of the ten splits, and how many have one peak in validation."""


def read_lines(path: Path) -> pd.DataFrame:
    """One line a run, as `barrier_variants.py table` writes them; columns are called as by `read_results`."""
    return pd.read_csv(path).rename(columns={f"{name}_tempered": f"test_{name}_calibrated" for name in ("rps", "nll")})


def read_forms(experiment: Path) -> dict[str, Settings]:
    """The settings of every form, by its label."""
    methods = tomllib.loads(experiment.read_text(encoding="utf-8"))["methods"]
    return {entry["label"]: entry["settings"] for entry in methods}


def barrier_table(lines: pd.DataFrame, forms: Mapping[str, Settings], ten_splits: pd.DataFrame) -> str:
    """Means over splits, the lowest validation error first.

    Args:
        lines: As `read_lines` gives them.
        forms: As `read_forms` gives them.
        ten_splits: The runs of results/fgnet-beyond, of which the references are taken on the same splits.
    """
    lines = lines[lines["dataset"] == DATASET]
    known = ten_splits[ten_splits["label"].isin(list(REFERENCES)) & ten_splits["split"].isin(lines["split"])]
    means = pd.concat([lines, known]).groupby("label")[list(SHOWN)].mean().sort_values("valid_mae")
    settings = {**forms, **REFERENCES}
    rows = []
    for label, own in means.iterrows():
        name = f"`{label}`" if label in REFERENCES else ""  # a form is told by its settings
        figures = (number(by * own[column], digits) for column, (_, digits, by) in SHOWN.items())
        rows.append((*_described(settings[str(label)]), *figures, name))
    header = ("CE", "RPS", "barrier", "t", "smoothed over")
    return table((*header, *(title for title, _, _ in SHOWN.values()), "method"), rows)


def few_labels_table(lines: pd.DataFrame) -> str:
    """Error and tempered RPS of every method on the other data sets, means over folds."""
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
    """The cells of a form: the weights of its terms, t at the first epoch and the last of 60, how far scores reach."""
    if settings is None:
        return (MISSING,) * 5
    found = {**DEFAULTS, **settings}
    last = found["t"] * found["growth"] ** 59
    t = f"{found['t']:g}" if last < 1.1 * found["t"] else f"{found['t']:g} to {last:.1f}"
    reach = "all" if found["reach"] >= NUM_CLASSES else f"{found['reach']:g}" if found["reach"] else MISSING
    reach += ", twice" if found["passes"] == 2 else ", accumulated" if found["accumulated"] else ""
    return (*(f"{found[name]:g}" if found[name] else MISSING for name in ("ce", "rps", "barrier")), t, reach)
