"""Images of samples for the browser: thumbnails for the grid, made when first shown and cached."""

import io
import threading
from typing import final

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.imports import require
from onepeak.data.images.decode import Image
from onepeak.errors import InputError
from onepeak.networks.own_backbone import OwnBackbone, check_trusted, is_own
from onepeak.report.source import Source, small
from onepeak.serving.inspector.run_predictions import BoundedCache
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.serving.model import Model, load
from onepeak.training.model_files import WEIGHTS, check_method, load_description

LARGE_SIDE = 1024
"""The longest side of the large image, in pixels."""
_MOST_BYTES = 64 * 2**20


@final
class ImageReader:
    """Reads images from the data one at a time; only thumbnails are cached.

    Args:
        source: The data.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._small: BoundedCache[bytes] = BoundedCache(most=_MOST_BYTES, size=len)

    def thumbnail(self, place: int) -> bytes:
        """Returns a JPEG of at most 160 pixels per side; empty if there is no image."""
        return self._small.get(place, lambda: self._encoded(place))

    def large(self, place: int) -> bytes | None:
        """Returns a PNG, full size or reduced to `LARGE_SIDE`; None if there is no image."""
        image = self.source.image(place)
        if image is None:
            return None
        image.thumbnail((LARGE_SIDE, LARGE_SIDE))
        file = io.BytesIO()
        image.save(file, format="PNG", compress_level=1)
        return file.getvalue()

    def _encoded(self, place: int) -> bytes:
        image = self.source.image(place)
        if image is None:
            return b""
        file = io.BytesIO()
        small(image).save(file, format="JPEG", quality=85)
        return file.getvalue()


SIDE = 512
"""Pixels of the longer side of a map: enough to look smooth, since the network's own maps are coarse."""
CONTOURS = (1 / 3, 2 / 3)
"""Shares of the scale that have a line."""
_MOST_MODELS = 2


@final
class EvidenceMaps:
    """Computes maps with the models of runs. A few models stay loaded; one map at a time, to bound memory."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}
        self._missing: dict[str, str] = {}
        self._lock = threading.Lock()

    def missing(self, run: FinishedRun) -> str:
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

    def ends(self, run: FinishedRun) -> tuple[float, float] | None:
        """The lowest and the highest value on the scale of a run's maps; None if each map has its own scale."""
        return load_description(run.folder).evidence_range

    def png(self, run: FinishedRun, image: Image.Image, label: int) -> bytes:
        """Returns the evidence for one class of an image as a PNG, transparent where there is little.

        Args:
            run: The run whose model to use.
            image: The image as in the data.
            label: The class.

        Raises:
            InputError: The run has no image model.
        """
        with self._lock:
            model = self._model(run)
            found = model.evidence([model.pixels(image)], torch.tensor([label]))
        return overlay(found[0].numpy(), image.size, model.description.evidence_range)

    def _model(self, run: FinishedRun) -> Model:
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
    """Draws a map as a PNG: colour and opacity rise with the evidence; lines at each third show it on any ground.

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
    smooth = np.clip(smooth, 0, 1)
    # viridis: its lightness rises evenly, so that it reads without colour vision too
    colours = require("matplotlib", extra="serve", purpose="An evidence map").colormaps["viridis"]
    pixels = (255 * colours(smooth)).astype(np.uint8)
    pixels[..., 3] = (255 * smooth).astype(np.uint8)
    line = _thicker(_borders(np.digitize(smooth, CONTOURS)))
    pixels[_thicker(_thicker(line)) & ~line] = (0, 0, 0, 160)
    pixels[line] = (255, 255, 255, 235)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def _borders(levels: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Where a pixel is of another level than the one left of it or above it."""
    found = np.zeros(levels.shape, dtype=bool)
    found[:, 1:] |= levels[:, 1:] != levels[:, :-1]
    found[1:] |= levels[1:] != levels[:-1]
    return found


def _thicker(line: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The line with a pixel more on each side."""
    wide = np.pad(line, 1)
    return wide[1:-1, 1:-1] | wide[2:, 1:-1] | wide[:-2, 1:-1] | wide[1:-1, 2:] | wide[1:-1, :-2]
