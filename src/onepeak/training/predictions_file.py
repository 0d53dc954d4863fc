"""predictions.parquet: what a run predicted for its validation and test samples, one row each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.digests import check_digests
from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak._core.records import MAX_CLASSES
from onepeak.data.manifest import ImageFiles, Items
from onepeak.data.splits.split import Part
from onepeak.errors import InputError, first_line
from onepeak.posterior.predictions import Predictions
from onepeak.training.out_folder import file_of_a_run

PREDICTIONS = "predictions.parquet"


def write_predictions(parts: Mapping[str, Predictions], items: Items, folder: Path) -> None:
    """Writes the predictions of each part with the true labels and, for image files, their paths."""
    pandas = require("pandas", extra="data", purpose="The predictions")
    axes = max(0 if part.coordinates is None else part.coordinates.shape[1] for part in parts.values())
    unknown = np.full((max(map(len, parts.values())), axes), np.nan, dtype=np.float32)
    frames = [
        pandas.DataFrame(
            {
                "part": name,
                "item": part.items,
                "path": [items.paths[item] for item in part.items] if isinstance(items, ImageFiles) else None,
                "label": part.truth.numpy(),
                "predicted": part.predicted_index.numpy(),
                "group": part.groups or None,
                "log_probs": list(part.log_probs.numpy()),
                "distance": np.float32("nan") if part.distance is None else part.distance.numpy(),
                "coordinates": list(unknown[: len(part)] if part.coordinates is None else part.coordinates.numpy()),
            }
        )
        for name, part in parts.items()
    ]
    whole = pandas.concat(frames, ignore_index=True)
    write_in_one_step(folder / PREDICTIONS, lambda path: whole.to_parquet(path, index=False))


def read_predictions(
    run: str | Path, *, columns: Sequence[str] | None = None, part: Part | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Reads one run's predictions for its validation and test samples.

    Args:
        run: The run's folder.
        columns: Some of part, item, path, label, predicted, group, log_probs, distance, coordinates; by default all.
            Other columns are not read from disk.
        part: Only the samples of this part.

    Returns:
        One array per column; `log_probs` is float32 of samples x classes.
    """
    parquet = require("pyarrow.parquet", extra="data", purpose="Reading predictions")
    path = file_of_a_run(Path(run), PREDICTIONS)
    check_digests(path.parent, path.name)
    try:
        file = parquet.ParquetFile(path)
        known = file.schema_arrow.names
        if missing := [name for name in ("part", "path", *_TYPES) if name not in known]:
            raise ValueError(f"the column {missing[0]} is missing")
        wanted = list(known if columns is None else columns)
        for name in wanted:
            if name not in known:
                raise InputError(f"`columns` must be some of {', '.join(known)}, got {name!r}.")
        table = file.read(columns=list(dict.fromkeys([*wanted, "part"])))
        if part is not None:
            table = table.filter(np.asarray(table["part"]) == part)
        found = {name: _array(name, table[name]) for name in wanted}
        _check_labels(found)
    except InputError:
        raise
    except Exception as error:  # a damaged file raises any of pyarrow's many classes
        raise InputError(
            f"{path} must be predictions that onepeak wrote, got a file that cannot be read ({first_line(error)})."
        ) from error
    return found


def part_predictions(run: str | Path, part: Part) -> Predictions:
    """Reads one run's predictions for one part as a record; its sources are the paths of images."""
    found = read_predictions(run, part=part)
    paths, groups = tuple(found["path"].tolist()), found.get("group", np.empty(0)).tolist()
    distance, coordinates = found.get("distance"), found.get("coordinates")  # earlier versions wrote neither
    known = distance is not None and coordinates is not None and not np.isnan(distance).any()
    return Predictions(  # copies: arrays read from disk may not be written to
        predicted_index=torch.tensor(found["predicted"]),
        log_probs=torch.tensor(found["log_probs"]),
        truth=torch.tensor(found["label"]),
        items=found["item"],
        groups=() if None in groups else tuple(groups),
        sources=() if None in paths else paths,
        source_name="path",
        distance=torch.tensor(distance) if known else None,
        coordinates=torch.tensor(coordinates) if known else None,
    )


_TYPES = {"item": "int", "label": "int", "predicted": "int", "log_probs": "list<"}


def _array(name: str, column: Any) -> npt.NDArray[Any]:
    """Converts a column to an array; lists of equal length, such as posteriors, become rows of a matrix."""
    whole = column.combine_chunks()
    if name in _TYPES and (whole.null_count or not str(whole.type).startswith(_TYPES[name])):
        raise ValueError(f"the column {name} holds {whole.type} with {whole.null_count} missing")
    if "list" not in str(whole.type):
        return np.asarray(whole)
    return np.asarray(whole.flatten()).reshape(len(whole), -1) if len(whole) else np.empty((0, 0), dtype=np.float32)


def _check_labels(found: Mapping[str, npt.NDArray[Any]]) -> None:
    """Checks that labels and predictions are classes of the posteriors."""
    classes = found["log_probs"].shape[1] if "log_probs" in found and len(found["log_probs"]) else MAX_CLASSES
    for name, end in (("item", 2**53), ("label", classes), ("predicted", classes)):
        if name in found and len(found[name]) and not 0 <= found[name].min() <= found[name].max() < end:
            raise ValueError(f"the column {name} holds {found[name].min()} to {found[name].max()}")
