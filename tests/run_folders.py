"""Folders as `onepeak compare` writes them, with figures that a test chooses."""

import json

import numpy as np
import pandas as pd

from onepeak.metrics.catalog import METRICS

RUN_FILES = {
    "SHA256SUMS",
    "result.json",
    "history.csv",
    "predictions.parquet",
    "model.safetensors",
    "onepeak.json",
    "trained_items.txt",
    "held_out_items.txt",
    "README.md",
}
"""What a finished run leaves."""
PLAIN = {record.name: 0.5 for record in METRICS}


def write_result(folder, *, method, split=0, fold=0, dataset="mine", sizes=(60, 20, 20), num_classes=4, **changes):
    """Writes result.json of one run; keys named like metrics are figures of its test part, others are the record's.

    Its answers are medians unless `mae_median` is given.
    """
    figures = {name: changes.pop(name) for name in list(changes) if name in PLAIN}
    record = {
        "method": method,
        "variant": "corrected",
        "dataset": dataset,
        "protocol": "random",
        "split": split,
        "fold": fold,
        "seed": 0,
        "epochs": 3,
        "best_epoch": 1,
        "seconds": 0.25,
        "sizes": dict(zip(("train", "valid", "test"), sizes, strict=True)),
        "num_classes": num_classes,
        "metrics": {"valid": PLAIN, "test": {**PLAIN, "mae_median": figures.get("mae", 0.5), **figures}},
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(record))
    return folder


def write_run(root, *, method, split=0, fold=0, label=None, **changes):
    """Writes one run of a comparison at its place below the root."""
    place = root / "runs" / (label or method) / f"split{split}-fold{fold}"
    if label is not None:
        changes["label"] = label
    return write_result(place, method=method, split=split, fold=fold, **changes)


def write_comparison(root, figures, *, metric="mae", **changes):
    """Writes a comparison: for every label the figures of its splits, None for a run that is not there."""
    for label, values in figures.items():
        for split, value in enumerate(values):
            if value is not None:
                write_run(root, method=label, split=split, **{metric: value}, **changes)
    return root


def write_predictions(folder, log_probs, labels, *, part="test", predicted=None):
    """Writes predictions.parquet of one run."""
    frame = pd.DataFrame(
        {
            "part": part,
            "item": np.arange(len(labels)),
            "path": None,
            "label": np.asarray(labels, dtype=np.int64),
            "predicted": log_probs.argmax(axis=1) if predicted is None else predicted,
            "log_probs": list(log_probs.astype(np.float32)),
        }
    )
    frame.to_parquet(folder / "predictions.parquet", index=False)
    return folder
