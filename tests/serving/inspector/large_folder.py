"""A folder as a large comparison leaves it, made in a moment: real in its layout, drawn at random in its figures."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from run_folders import write_run

METHODS = ("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes", "corn", "coral")


def write_large_folder(root, *, splits=5, num_samples=10_000, num_classes=70, epochs=60, methods=METHODS):
    """Writes one run a method and split, each with a posterior of every sample."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, num_classes, num_samples)
    centre = labels + rng.normal(0, 3, num_samples)
    smooth = -np.abs(np.arange(num_classes, dtype=np.float32) - centre[:, None].astype(np.float32)) / 3
    course = np.linspace(1, 0, epochs)
    for place, method in enumerate(methods):
        disorder = 0.3 if method in ("ce", "pn", "ren") else 0.0
        scores = smooth + disorder * rng.standard_normal(smooth.shape, dtype=np.float32)
        log_probs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        table = pa.table(
            {
                "part": ["test"] * num_samples,
                "item": np.arange(num_samples),
                "path": [f"pictures/{label:02d}/{item:05d}.png" for item, label in enumerate(labels)],
                "label": labels,
                "predicted": log_probs.argmax(axis=1),
                "log_probs": pa.ListArray.from_arrays(np.arange(num_samples + 1) * num_classes, log_probs.ravel()),
            }
        )
        for split in range(splits):
            figures = {"mae": 3 + 0.1 * place + 0.05 * split, "soi_predicted": 0.99 - disorder, "unimodal": 0.9}
            run = write_run(
                root, method=method, split=split, num_classes=num_classes, dataset="large", epochs=epochs, **figures
            )
            pq.write_table(table, run / "predictions.parquet")
            lines = [f"{epoch},{3 + value:.4f},{0.99 - value / 2:.4f}" for epoch, value in enumerate(course)]
            (run / "history.csv").write_text("\n".join(["epoch,valid_mae,valid_soi_predicted", *lines]) + "\n")
    (root / "config.toml").write_text(
        f"[record]\nclasses = {json.dumps([str(label) for label in range(num_classes)])}\n"
    )
    return root


if __name__ == "__main__":
    write_large_folder(Path(sys.argv[1]))
