"""Evidence maps: where in an image the predicted class comes from, as an overlay."""

import io
import threading
from typing import final

import numpy as np
import numpy.typing as npt
import torch

from onepeak._extras import require
from onepeak.data.pillow import Image
from onepeak.errors import InputError
from onepeak.networks.own_backbone import OwnBackbone, check_trusted, is_own
from onepeak.serving.inspector.runs import Run
from onepeak.serving.model import Model, load
from onepeak.training.model_files import WEIGHTS, check_method, load_description

SIDE = 512
"""Pixels of the longer side of a map: enough to look smooth, since the network's own maps are coarse."""
_MOST_MODELS = 2


@final
class EvidenceMaps:
    """Computes maps with the models of runs. A few models stay loaded; one map at a time, to bound memory."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}
        self._missing: dict[str, str] = {}
        self._lock = threading.Lock()

    def missing(self, run: Run) -> str:
        """Why a run's model cannot make evidence maps; empty if it can."""
        if not (run.folder / WEIGHTS).is_file():
            return "This run kept no model."
        try:
            description = load_description(run.folder)
            check_method(run.folder, description)
        except InputError as error:
            return str(error)
        backbone = description.network.backbone
        with self._lock:
            if backbone not in self._missing:
                self._missing[backbone] = _missing_of(backbone)
            return self._missing[backbone]

    def ends(self, run: Run) -> tuple[float, float] | None:
        """The lowest and the highest value on the scale of a run's maps; None if each map has its own scale."""
        return load_description(run.folder).evidence_range

    def png(self, run: Run, picture: Image.Image, label: int) -> bytes:
        """Returns the evidence for one class of an image as a PNG, transparent where there is little.

        Args:
            run: The run whose model to use.
            picture: The image as in the data.
            label: The class.

        Raises:
            InputError: The run has no image model.
        """
        with self._lock:
            model = self._model(run)
            found = model.evidence([model.pixels(picture)], torch.tensor([label]))
        return overlay(found[0].numpy(), picture.size, model.description.evidence_range)

    def _model(self, run: Run) -> Model:
        key = str(run.folder)
        if key not in self._models:
            while len(self._models) >= _MOST_MODELS:
                self._models.pop(next(iter(self._models)))
            self._models[key] = load(run.folder)
        return self._models[key]


def _missing_of(backbone: str) -> str:
    """All backbones of onepeak and timm give maps; a user's own may not, or may be missing."""
    if not is_own(backbone):
        return ""
    try:
        check_trusted(backbone)
        return "" if OwnBackbone(backbone).gives_maps else "Its network gives features, not maps."
    except InputError as error:
        return str(error)


def overlay(evidence: npt.NDArray[np.float32], size: tuple[int, int], ends: tuple[float, float] | None = None) -> bytes:
    """Draws a map as a PNG: colour and opacity rise with the evidence, from one end of the scale to the other.

    Args:
        evidence: Height x width.
        size: Width and height of the image below.
        ends: The values to draw as nothing and as brightest; values beyond them are clipped. By default the lowest and
            the highest value of this map.
    """
    low, high = (float(evidence.min()), float(evidence.max())) if ends is None else ends
    strength = np.clip((evidence - low) / (high - low), 0, 1) if high > low else np.zeros_like(evidence)
    scale = SIDE / max(size)
    shape = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
    smooth = np.asarray(Image.fromarray(strength.astype(np.float32)).resize(shape, Image.Resampling.BICUBIC))
    # viridis: its lightness rises evenly, so that it reads without colour vision too
    colours = require("matplotlib", extra="serve", purpose="An evidence map").colormaps["viridis"]
    pixels = (255 * colours(np.clip(smooth, 0, 1))).astype(np.uint8)
    pixels[..., 3] = (255 * np.clip(smooth, 0, 1)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()
