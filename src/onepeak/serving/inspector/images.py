"""Images of samples for the browser: thumbnails for the grid, made when first shown and cached."""

import io
import threading
from functools import cache, lru_cache
from typing import Any, final

import torch

from onepeak.data.images.decode import Image
from onepeak.errors import InputError
from onepeak.networks.own_backbone import OwnBackbone, check_trusted, is_own
from onepeak.report.source import Source, small
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.serving.inspector.samples import BoundedCache
from onepeak.serving.model import load
from onepeak.training.model_files import WEIGHTS, check_method, load_description

LARGE_SIDE = 1024
"""The longest side of the large image, in pixels."""
_MOST_BYTES = 64 * 2**20


@final
class ImageReader:
    """Reads images from the data one at a time; only thumbnails are cached."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._small: BoundedCache[bytes] = BoundedCache(most=_MOST_BYTES, size=len)

    def thumbnail(self, place: int) -> bytes:
        """Returns a JPEG of at most 160 pixels per side; empty if there is no image."""

        def make() -> bytes:
            image = self.source.image(place)
            return b"" if image is None else _encoded(small(image), format="JPEG", quality=85)

        return self._small.get(place, make)

    def large(self, place: int) -> bytes | None:
        """Returns a PNG, full size or reduced to `LARGE_SIDE`; None if there is no image."""
        image = self.source.image(place)
        if image is None:
            return None
        image.thumbnail((LARGE_SIDE, LARGE_SIDE))
        return _encoded(image, format="PNG", compress_level=1)


def _encoded(image: Image.Image, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, **options)
    return file.getvalue()


_MOST_MODELS = 2


@final
class EvidenceMaps:
    """Computes maps with the models of runs. A few models stay loaded; one map at a time, to bound memory."""

    def __init__(self) -> None:
        self.model = lru_cache(_MOST_MODELS)(load)
        self._missing_of = cache(_missing_of)
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
        return self._missing_of(description.network.backbone)

    def ends(self, run: FinishedRun) -> tuple[float, float] | None:
        """The lowest and the highest value on the scale of a run's maps; None if each map has its own scale."""
        return load_description(run.folder).evidence_range

    def rows(self, run: FinishedRun, image: Image.Image, label: int) -> list[list[float]]:
        """Returns the evidence of a run's model for one class of an image, from top to bottom, as /v1/predict does."""
        with self._lock:
            model = self.model(run.folder)
            found: list[list[float]] = model.evidence([model.pixels(image)], torch.tensor([label]))[0].tolist()
        return found


def _missing_of(backbone: str) -> str:
    """All backbones of onepeak and timm give maps; a user's own may not, or may be missing."""
    if not is_own(backbone):
        return ""
    try:
        check_trusted(backbone)
        return "" if OwnBackbone(backbone).gives_maps else "Its network gives features, not maps."
    except InputError as error:
        return str(error)
