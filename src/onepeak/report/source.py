"""The data behind the runs, opened again for images and true posteriors; a report goes on without them."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak.data.datasets import DATASETS
from onepeak.data.images.decode import Image, decode_image
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.data.source import DataSource
from onepeak.data.splits.copies import data_digest, item_digests
from onepeak.errors import OnepeakError
from onepeak.experiment.run_files import CONFIG, RECORD


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """The data, or why there are none."""

    manifest: Manifest | None
    reason: str = ""
    bits: int | None = None
    """How many bits 16-bit images hold."""

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each image file lies in the data."""
        items = None if self.manifest is None else self.manifest.items
        return {path: place for place, path in enumerate(items.paths)} if isinstance(items, ImageFiles) else {}

    def place(self, item: int, path: str | None, label: int) -> int | None:
        """Where a predicted sample lies in the data; None where it is not there with the same label.

        Images that could not be read may have been left out of a run, so files are known by their path. All else is
        known by its position: `open_source` sees to it that the rows of a table are those of the runs.
        """
        if self.manifest is None:
            return None
        place = item if path is None else self._places.get(path)
        inside = place is not None and place < len(self.manifest)
        return place if inside and self.manifest.labels[place] == label else None

    def name(self, item: int, path: str | None, label: int) -> str:
        """What a predicted sample is called: its path, its row in the table, or its number where no more is known."""
        if path is not None:
            return str(path)
        place = self.place(item, path, label)
        rows = None if self.manifest is None else self.manifest.rows
        return f"sample {item}" if rows is None or place is None else f"row {rows[place]}"

    def true_log_probs(self, items: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """The true posteriors of some samples, where they are known."""
        known = None if self.manifest is None else self.manifest.true_log_probs
        return None if known is None or not len(items) or items.max() >= len(known) else known[items]

    def image(self, place: int) -> Image.Image | None:
        """The image at a place; None for a table, and for a file that has gone."""
        items = None if self.manifest is None else self.manifest.items
        match items:
            case ImageArrays():
                return Image.fromarray(items.pixels[place])
            case ImageFiles():
                try:
                    return decode_image((items.root / items.paths[place]).read_bytes(), bits=self.bits)
                except (OSError, OnepeakError):
                    return None
            case _:
                return None

    def features(self, place: int) -> dict[str, str]:
        """The row of a table at a place, as text by column, and its text first; nothing for images."""
        items = None if self.manifest is None else self.manifest.items
        if not isinstance(items, FeatureRows):
            return {}
        found = {} if items.texts is None else {items.texts.column: items.texts.values[place]}
        for column, value in zip(items.columns, items.values[place], strict=True):
            names = items.categories.get(column)
            found[column] = "missing" if np.isnan(value) else f"{value:.15g}" if names is None else names[int(value)]
        return found


def open_source(config: Mapping[str, Any] | None, dataset: str) -> Source:
    """Opens the data as the runs did; a table that has changed since is not shown, as its rows may have moved."""
    if config is None and not (dataset in DATASETS and DATASETS[dataset].generate is not None):
        return Source(manifest=None, reason=f"The folder has no {CONFIG} that says where the data lie.")
    settings = {} if config is None else config
    try:
        given = {each.name: settings[each.name] for each in fields(DataSource) if settings.get(each.name) is not None}
        manifest = DataSource(**{"data": dataset, **given}).open()
    except (OnepeakError, OSError) as error:
        return Source(manifest=None, reason=f"The data could not be opened again: {error}")
    if has_other_rows(manifest, settings):
        return Source(manifest=None, reason="The data differ from those of the runs, so none of their rows is shown.")
    return Source(manifest=manifest, bits=settings.get("recipe", {}).get("bits"))


def has_other_rows(manifest: Manifest, config: Mapping[str, Any] | None) -> bool:
    """Whether a table is not the one that an experiment recorded, so that its rows may have moved since."""
    known = (config or {}).get(RECORD, {}).get("data")  # older records have none
    is_table = isinstance(manifest.items, FeatureRows)
    return is_table and known not in (None, data_digest(manifest, item_digests(manifest.items)))


SIDE = 160
"""The most pixels of a side."""


def thumbnail(image: Image.Image) -> str:
    """The image, made small, as a data address.

    Example:
        >>> thumbnail(Image.new("RGB", (400, 200)))[:22]
        'data:image/jpeg;base64'
    """
    file = io.BytesIO()
    small(image).save(file, format="JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def pixels(image: Image.Image) -> npt.NDArray[np.uint8]:
    """The image, made small, as an array."""
    return np.asarray(small(image), dtype=np.uint8)


def small(image: Image.Image) -> Image.Image:
    """A copy whose longer side is at most `SIDE` pixels."""
    copy = image.convert("RGB")
    copy.thumbnail((SIDE, SIDE))
    return copy
