"""Data sets with the paper's counts, made of names only: splits look at no image."""

from pathlib import Path

import numpy as np
import pytest

from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest


@pytest.fixture(scope="session")
def images():
    """Makes a manifest of made-up paths from labels."""

    def make(labels, *, num_classes=None, groups=None, strata=None, name="mine", root=Path("nowhere")):
        labels = np.asarray(labels, dtype=np.int64)
        return Manifest(
            name=name,
            items=ImageFiles(root=root, paths=tuple(f"images/{item:06}.jpg" for item in range(len(labels)))),
            labels=labels,
            classes=tuple(f"c{label}" for label in range(num_classes or int(labels.max()) + 1)),
            groups=groups,
            strata=strata,
        )

    return make


@pytest.fixture(scope="session")
def rows():
    """Makes a manifest of rows of a table."""

    def make(values, labels, *, num_classes=None, groups=None):
        values = np.asarray(values, dtype=np.float64)
        return Manifest(
            name="table",
            items=FeatureRows(columns=tuple(f"x{column}" for column in range(values.shape[1])), values=values),
            labels=np.asarray(labels, dtype=np.int64),
            classes=tuple(f"c{label}" for label in range(num_classes or max(labels) + 1)),
            groups=groups,
        )

    return make


@pytest.fixture(scope="session")
def iciar(images):
    return images(np.repeat(np.arange(4), 100), name="iciar")


@pytest.fixture(scope="session")
def hci(images):
    return images(np.repeat(np.arange(5), 265), name="hci")


@pytest.fixture(scope="session")
def fgnet_like(images):
    """82 subjects with 6 to 18 images each, 1,002 in all, ages that grow through a subject's images."""
    sizes = 6 + np.arange(82) % 13
    sizes[: 1002 - sizes.sum()] += 1
    assert sizes.sum() == 1002
    subjects = np.repeat(np.arange(82), sizes)
    ages = np.concatenate([(start % 20) + 3 * np.arange(size) for start, size in enumerate(sizes)])
    groups = tuple(f"{subject + 1:03}" for subject in subjects)
    return images(np.minimum(ages, 69), num_classes=70, groups=groups, name="fgnet")
