"""Describes a model to clients."""

from dataclasses import asdict

from onepeak._version import __version__
from onepeak.data.decode import known_formats
from onepeak.networks.head import MapHead
from onepeak.serving.http.answers import CalibrationCard, ColumnCard, ModelCard, PictureCard, ReadingCard
from onepeak.serving.http.limits import Limits
from onepeak.serving.model import Model
from onepeak.serving.reading import Reading
from onepeak.training.model_files import ModelDescription


def model_card(model: Model, limits: Limits, usual: Reading) -> ModelCard:
    """Describes a model.

    Args:
        model: The model to describe.
        limits: The server's limits.
        usual: How the server reads posteriors by default.
    """
    description = model.description
    return ModelCard(
        model_id=model.model_id,
        classes=list(model.classes),
        method=description.method,
        variant=description.variant,
        backbone=description.network.backbone,
        input="rows" if model.reads_tables else "pictures",
        columns=_columns(description),
        max_rows=limits.max_rows if model.reads_tables else None,
        pictures=_pictures(description, limits),
        calibration=_calibration(description),
        reading=_reading(usual, description),
        evidence=isinstance(model.network.head, MapHead),
        evidence_range=description.evidence_range,
        data=description.data,
        version=__version__,
    )


def _columns(description: ModelDescription) -> list[ColumnCard] | None:
    if description.table is None:
        return None
    known = description.table.categories
    return [
        ColumnCard(
            name=name,
            kind="category" if name in known else "number",
            categories=list(known[name]) if name in known else None,
        )
        for name in description.table.columns
    ]


def _pictures(description: ModelDescription, limits: Limits) -> PictureCard | None:
    resize = description.resize
    if resize is None:
        return None
    return PictureCard(
        formats=list(known_formats()),
        short_side=resize.short_side,
        only_enlarge=resize.only_enlarge,
        scale=resize.scale,
        bits=description.bits,
        max_pixels=limits.max_pixels,
        max_network_pixels=limits.max_network_pixels,
        max_items=limits.max_items,
    )


def _calibration(description: ModelDescription) -> CalibrationCard | None:
    found = description.calibration
    if found is None:
        return None
    return CalibrationCard(
        temperature=found.temperature, num_samples=found.num_samples, smallest_alpha=found.smallest_alpha
    )


def _reading(usual: Reading, description: ModelDescription) -> ReadingCard:
    return ReadingCard.model_validate({**asdict(usual), "alpha": usual.used_alpha(description.calibration)})
