"""Run folders with posteriors, histories and figures that belong together, made in a moment."""

import json

import numpy as np
import pandas as pd
import torch

from onepeak.metrics.catalog import collection
from run_folders import write_predictions, write_run


def posteriors(labels, num_classes, *, disorder, seed=0):
    """Log-probabilities with one peak near the label, and random bumps where there is disorder."""
    rng = np.random.default_rng(seed)
    centre = labels + 0.3 * rng.standard_normal(len(labels))
    scores = -np.abs(np.arange(num_classes) - centre[:, None])
    scores = scores + disorder * rng.standard_normal(scores.shape)
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def write_whole_run(root, *, method, split=0, fold=0, num_classes=5, num_test=20, disorder=0.0, epochs=4, **changes):
    """Writes result.json, history.csv and predictions.parquet of one run; its metrics are those of its posteriors."""
    rng = np.random.default_rng(split * 100 + fold)  # the same samples for every method
    labels = rng.integers(0, num_classes, num_test)
    log_probs = posteriors(labels, num_classes, disorder=disorder, seed=split * 100 + fold)
    metrics = collection(num_classes, names=["mae", "soi_predicted"])
    metrics.update(torch.tensor(log_probs), torch.tensor(labels), torch.tensor(log_probs).argmax(-1))
    figures = {name: float(value) for name, value in metrics.compute().items()}
    place = write_run(
        root,
        method=method,
        split=split,
        fold=fold,
        num_classes=num_classes,
        sizes=(3 * num_test, num_test, num_test),
        epochs=epochs,
        **{**figures, **changes},
    )
    write_predictions(place, log_probs, labels)
    course = np.linspace(1, 0, epochs)
    history = {
        "epoch": np.arange(epochs),
        "valid_mae": figures["mae"] + course,
        "valid_soi_predicted": figures["soi_predicted"] - 0.2 * course,
    }
    pd.DataFrame(history).to_csv(place / "history.csv", index=False)
    return place


def write_whole_comparison(root, disorders, *, splits=2, **changes):
    """Writes a comparison: for every method how disorderly its posteriors are."""
    for method, disorder in disorders.items():
        for split in range(splits):
            write_whole_run(root, method=method, split=split, disorder=disorder, **changes)
    return root


def write_failure(root, *, label, split=0, message="The loss is not a number."):
    """Writes the record of a run that failed."""
    place = root / "runs" / label / f"split{split}-fold0"
    place.mkdir(parents=True, exist_ok=True)
    (place / "error.json").write_text(json.dumps({"message": message, "traceback": ""}))
    return place
