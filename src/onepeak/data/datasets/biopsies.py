"""`biopsies`, the data set that comes with onepeak: generated tissue with grades whose true posterior is known."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.values import check_integer
from onepeak.data.datasets.biopsies_drawing import Array, Chance, Indices, Use, draw
from onepeak.data.manifest import ImageArrays, Manifest
from onepeak.errors import InputError
from onepeak.posterior import median, mode

GRADES = ("g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8")
"""The classes, lowest first, as in Belharbi et al. 2019, fig. 1."""
NOISE = 0.3
"""Scale of the grader's logistic error, in grades."""
IMAGES_PER_PATIENT = 5


def biopsies(num_items: int = 2000, *, seed: int = 0, size: int = 64) -> Manifest:
    r"""Generates images that resemble stained tissue, in eight grades that truly overlap.

    Every image is drawn from a hidden severity :math:`u`, uniform on :math:`(0, 8)`: as it rises, the nuclei of the
    tumour become more numerous, larger, more varied, more irregular and more crowded. Stain, light, focus, fibres,
    empty spaces and inflammation vary independently of the severity. The grader reads the severity with a logistic
    error :math:`\varepsilon` of scale 0.3 and rounds down: :math:`y = \lfloor u + \varepsilon \rfloor`, clipped to
    0 and 7. With the logistic distribution function :math:`F`,

    .. math::
        P(y = k \mid u) = F\Big(\frac{k + 1 - u}{0.3}\Big) - F\Big(\frac{k - u}{0.3}\Big), \qquad
        P(y = 0 \mid u) = F\Big(\frac{1 - u}{0.3}\Big), \qquad P(y = 7 \mid u) = 1 - F\Big(\frac{7 - u}{0.3}\Big)

    which is strictly unimodal. This is the posterior **given the severity**. A network sees only the image, from which
    the severity cannot be read exactly, so `bayes_error` is a bound that a network can approach but not beat.

    Five consecutive images come from one patient: they share the stain and have similar severities, so only a split
    by `groups` measures how well a model does on new patients.

    Args:
        num_items: Number of images. A smaller data set is a prefix of a larger one with the same seed and size.
        seed: Seed of the data set. The same seed gives the same images and labels on every machine.
        size: Side of the images in pixels; it changes the level of detail, not the tissue.

    Returns:
        Images in memory, labels, the patient of each image as its group, and the true log-probabilities.

    Example:
        >>> data = biopsies(6)
        >>> data.items.pixels.shape, data.groups[-2:]
        ((6, 64, 64, 3), ('patient-0000', 'patient-0001'))
        >>> np.exp(data.true_log_probs[0]).round(2), data.classes[data.labels[0]]
        (array([0.  , 0.  , 0.08, 0.63, 0.28, 0.01, 0.  , 0.  ]), 'g5')
    """
    num_items = check_integer("num_items", num_items, minimum=1)
    seed = check_integer("seed", seed, minimum=0)
    size = check_integer("size", size, minimum=16)
    ids = np.arange(num_items)
    patients = ids // IMAGES_PER_PATIENT
    severity = hidden_severity(seed, ids, patients)
    return Manifest(
        name="biopsies",
        items=ImageArrays(pixels=draw(seed, ids, patients, severity / len(GRADES), size=size)),
        labels=grades_given(seed, ids, severity),
        classes=GRADES,
        groups=tuple(f"patient-{patient:04d}" for patient in patients),
        true_log_probs=grade_log_probs(severity),
        notes=(f"generated from seed {seed}",),
    )


def hidden_severity(seed: int, ids: Indices, patients: Indices) -> Array:
    """Returns the severity of each image, from 0 to 8: close to its patient's, uniform over all images."""
    highest = float(len(GRADES))
    patient = Chance(seed, Use.PATIENT_SEVERITY, patients).between(0.0, highest)
    severity = patient + Chance(seed, Use.SEVERITY, ids).around_zero(1.5)
    # A uniform number plus a symmetric one stays uniform when it is reflected at both ends.
    severity = np.abs(severity)
    return highest - np.abs(highest - severity)


def grades_given(seed: int, ids: Indices, severity: Array) -> npt.NDArray[np.int64]:
    """Returns the grade of each image: its severity plus the grader's error, rounded down."""
    chance = Chance(seed, Use.LABEL, ids).between(0.0, 1.0)
    error = NOISE * np.log(chance / (1 - chance))
    return np.clip(np.floor(severity + error), 0, len(GRADES) - 1).astype(np.int64)


def grade_log_probs(severity: Array) -> Array:
    """Returns the log-probability of every grade given the severity (samples x grades).

    Exact in both tails: :math:`F(b) - F(a) = F(b) F(-a) (1 - e^{a - b})`, and the logarithms of the factors are added.
    """
    thresholds = (np.arange(1, len(GRADES)) - severity[:, None]) / NOISE
    below, above = -np.logaddexp(0, -thresholds), -np.logaddexp(0, thresholds)
    between = below[:, 1:] + above[:, :-1] + np.log1p(-np.exp(-1 / NOISE))
    return np.concatenate([below[:, :1], between, above[:, -1:]], axis=1)


@dataclass(frozen=True, kw_only=True)
class BayesError:
    """The best expected performance that any predictor can reach."""

    mae: float
    """Lowest mean absolute error, in classes: that of the posterior median."""
    accuracy: float
    """Highest accuracy: that of the posterior mode."""


def bayes_error(manifest: Manifest) -> BayesError:
    """Computes the expected error of a predictor that knows the true posterior of every sample."""
    if manifest.true_log_probs is None or not len(manifest):
        found = "no samples" if not len(manifest) else f"{manifest.name!r} without them"
        raise InputError(f"`manifest` must have samples with `true_log_probs`, as generated data has, got {found}.")
    log_probs = torch.from_numpy(manifest.true_log_probs)
    probs = log_probs.exp()
    distance = (torch.arange(manifest.num_classes) - median(log_probs).unsqueeze(-1)).abs()
    return BayesError(
        mae=float((probs * distance).sum(dim=-1).mean()),
        accuracy=float(probs.gather(-1, mode(log_probs).unsqueeze(-1)).mean()),
    )
