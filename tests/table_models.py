"""Models of a table with weights drawn at random, of any method, in a moment and without training."""

import numpy as np
import torch

from onepeak.methods.catalog import method
from onepeak.networks import NetworkSettings, build_network
from onepeak.posterior import KappaRule
from onepeak.serving.model import Model
from onepeak.training.calibration import Calibration
from onepeak.training.model_files import ModelDescription
from onepeak.training.table_encoder import TableEncoder

ENCODER = TableEncoder(
    columns=("age", "tone", "dose"),
    categories={"tone": ("pale", "2", "dark")},
    means=(40.0, 0.0, -200.0),
    stds=(10.0, 1.0, 50.0),
    missing=("dose",),
)
RULE = KappaRule(centre=2.2, scale=0.6)
CALIBRATION = Calibration(temperature=3.0, num_samples=99, scores=tuple(np.linspace(0, 4, 99).tolist()), qwk=RULE)


def table_model(name, *, num_classes=6, variant="corrected", calibration=None, encoder=ENCODER, **settings):
    """A model whose answers differ much from row to row."""
    network = NetworkSettings(backbone="mlp", num_features=encoder.num_features, hidden=(16,))
    built = build_network(method(name, num_classes=num_classes, variant=variant, **settings), network, seed=0)
    with torch.no_grad():
        for weights in built.head.parameters():
            weights.mul_(8)
    description = ModelDescription(
        classes=tuple(f"grade {label}" for label in range(num_classes)),
        method=name,
        variant=variant,
        method_settings=settings,
        network=network,
        resize=None,
        table=encoder,
        calibration=calibration,
    )
    return Model(description, built, torch.device("cpu"))


def table_rows(count, *, seed=0):
    """Values as the encoder above wants them, some of them missing."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(ENCODER.means, ENCODER.stds, (count, 3)).astype(np.float32)
    rows[:, 1] = rng.integers(0, 3, count)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def said_of_rows(model, values, **choices):
    """What `predict` says of such values, given by their names."""
    names = ENCODER.categories["tone"]
    tones = [None if np.isnan(code) else names[int(code)] for code in values[:, 1]]
    return model.predict({"age": values[:, 0], "tone": tones, "dose": values[:, 2]}, **choices)
