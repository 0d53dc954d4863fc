"""Small data with an order planted in it, for the tests of training and the scripts they start."""

from dataclasses import replace

import numpy as np

from onepeak.data.manifest import FeatureRows, ImageArrays, Manifest
from onepeak.data.splits import Split
from onepeak.networks.build import NetworkSettings
from onepeak.training.recipe import Recipe
from onepeak.training.run import RunSettings

CLASSES = ("low", "fair", "good", "high")
WEIGHTS = (1.0, 2.0, 0.5, 3.0)
"""Of the classes, in the loss."""

RECIPE = Recipe(epochs=3, batch_size=16, lr=1e-2, warmup_epochs=1)

EVERYTHING = replace(
    RECIPE, epochs=8, optimizer="sgd", lr=0.05, schedule="step", step_every=3, ema=0.9, clip_norm=1.0, select="rps"
)
"""Momentum, a running average, steps of the learning rate: whatever a checkpoint could forget."""


def planted_table(num_rows=101, *, noise=0.3, seed=0):
    """Six columns that all tell of one hidden quantity, and its quarter as the label."""
    rng = np.random.default_rng(seed)
    hidden = rng.uniform(0, len(CLASSES), num_rows)
    values = hidden[:, None] * rng.normal(size=6) + noise * rng.normal(size=(num_rows, 6))
    columns = tuple(f"column{number}" for number in range(6))
    return Manifest(
        name="planted",
        items=FeatureRows(columns=columns, values=values),
        labels=np.floor(hidden).astype(np.int64),
        classes=CLASSES,
    )


def planted_images(num_items=60, *, size=16, seed=0):
    """Noise whose brightness tells the class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(num_items) % len(CLASSES)
    pixels = rng.integers(0, 64, (num_items, size, size, 3)) + 48 * labels[:, None, None, None]
    return Manifest(name="planted", items=ImageArrays(pixels=pixels.astype(np.uint8)), labels=labels, classes=CLASSES)


def split_of(num_items):
    """Three fifths to train on, a fifth each to validate and to test on."""
    order = np.random.default_rng(num_items).permutation(num_items)
    first, second = num_items * 3 // 5, num_items * 4 // 5
    return Split(train=order[:first], valid=order[first:second], test=order[second:], protocol="planted")


def settings_of(method="elb", recipe=RECIPE, *, hidden=(16,), dropout=0.0, **others):
    """A run over the planted table."""
    network = NetworkSettings(backbone="mlp", num_features=6, hidden=hidden, dropout=dropout)
    return RunSettings(method=method, network=network, recipe=recipe, **others)
