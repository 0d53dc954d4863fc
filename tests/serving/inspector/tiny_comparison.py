"""A comparison made in a second: two methods on two splits of sixty small images, by networks not trained."""

from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from PIL import Image

from onepeak.data.datasets.biopsies import GRADES, biopsies
from onepeak.data.images.resize import Resize
from onepeak.methods.catalog import method
from onepeak.metrics.catalog import DEFAULT_NAMES, collection
from onepeak.networks.build import NetworkSettings, build_network
from onepeak.serving.model import load
from onepeak.training.calibration import calibration_of
from onepeak.training.model_files import ModelDescription, save_model
from run_folders import write_run

METHODS = ("ce", "elb")
NUM_ITEMS = 60
PARTS = {0: (np.arange(0, 20), np.arange(20, 45)), 1: (np.arange(20, 40), np.arange(35, 60))}
"""The validation and test items of each split; some are tested on twice."""

EVIDENCE_RANGE = (0.0, 12.5)
TWINS = (30, 31)


def write_tiny_comparison(root):
    """Writes images below `root/data` and the runs below `root/compared`, which is given back."""
    drawn = biopsies(NUM_ITEMS, size=32)
    paths = [f"{GRADES[label]}/{item:03d}.png" for item, label in enumerate(drawn.labels)]
    for path, pixels in zip(paths, drawn.items.pixels, strict=True):
        (root / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(root / "data" / path)
    for place, name in enumerate(METHODS):
        for split, parts in PARTS.items():
            _write_run(root / "compared", name, split, parts, drawn, paths, seed=10 * place + split)
    methods = ", ".join(f'{{ name = "{name}", label = "{name}" }}' for name in METHODS)
    order = ", ".join(f'"{grade}"' for grade in GRADES)
    config = f'data = "{root / "data"}"\norder = [{order}]\nmethods = [{methods}]\n'
    (root / "compared" / "config.toml").write_text(config)
    return root / "compared"


def _write_run(folder, name, split, parts, drawn, paths, *, seed):
    settings = NetworkSettings(backbone="small")
    network = build_network(method(name, num_classes=len(GRADES)), settings, seed=seed)
    with torch.no_grad():
        for weights in network.head.parameters():
            weights.mul_(20)  # posteriors that differ from image to image
    place = folder / "runs" / name / f"split{split}-fold0"
    description = ModelDescription(
        classes=GRADES,
        method=name,
        variant="corrected",
        method_settings={},
        network=settings,
        resize=Resize(scale=1.0),
        table=None,
        evidence_range=EVIDENCE_RANGE,
    )
    save_model(place, description, network.state_dict())
    model = load(place)
    predictions = [_predictions(model, drawn, items) for items in parts]
    save_model(
        place,
        ModelDescription(**{**vars(description), "calibration": calibration_of(predictions[0])}),
        network.state_dict(),
    )
    metrics = collection(len(GRADES), names=DEFAULT_NAMES)
    metrics.update(predictions[1].log_probs, predictions[1].truth, predictions[1].predicted_index)
    figures = {key: float(value) for key, value in metrics.compute().items()}
    write_run(folder, method=name, split=split, num_classes=len(GRADES), dataset="data", **figures)
    frames = [_frame(part, each, paths) for part, each in zip(("valid", "test"), predictions, strict=True)]
    pd.concat(frames, ignore_index=True).to_parquet(place / "predictions.parquet", index=False)
    history = pd.DataFrame({"epoch": [0, 1, 2], "valid_mae": [3.0, 2.0, 2.5], "valid_soi_predicted": [0.5, 0.6, 0.7]})
    history.to_csv(place / "history.csv", index=False)


def _predictions(model, drawn, items):
    found = model.answers(list(drawn.items.pixels[items]))
    return replace(found, items=items, truth=torch.tensor(drawn.labels[items]))


def _frame(part, predictions, paths):
    return pd.DataFrame(
        {
            "part": part,
            "item": predictions.items,
            "path": [paths[item] for item in predictions.items],
            "label": predictions.truth.numpy(),
            "predicted": predictions.predicted_index.numpy(),
            "log_probs": list(predictions.log_probs.numpy()),
            "distance": (predictions.items / 30).astype(np.float32),
            "coordinates": list(_coordinates(predictions.items)),
        }
    )


def _coordinates(items):
    """A spiral on which two samples coincide."""
    place = np.where(items == TWINS[1], TWINS[0], items)
    return np.stack([place * np.cos(place / 5), place * np.sin(place / 5), place], axis=1).astype(np.float32)
