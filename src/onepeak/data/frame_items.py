"""Items from the rows of a table: images, features, or features encoded like those of another table."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.data.faults import Fault
from onepeak.data.feature_notes import odd_values
from onepeak.data.features import cell_fault, encode_features, encode_like, feature_faults
from onepeak.data.frame_columns import Columns
from onepeak.data.frame_types import Frame
from onepeak.data.groups import likely_groups
from onepeak.data.manifest import FeatureRows, Items
from onepeak.data.names import as_names
from onepeak.data.picture_list import find_pictures, picture_files

Take: TypeAlias = Callable[[list[int]], tuple[Items, tuple[str, ...]]]
"""Maps the positions of the rows without a fault to their items and notes."""


def pictures(frame: Frame, columns: Columns, *, root: Path) -> tuple[list[Fault], Take]:
    """Finds the images that a column names."""
    assert columns.path is not None
    written = frame[columns.path].tolist()
    found, faults = find_pictures(written, root=root, rows=list(frame.index), column=columns.path)

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        paths = [path for place in kept if (path := found[place]) is not None]
        items, notes = picture_files(paths, root=root, written=[written[place] for place in kept])
        if columns.others:
            notes = (*notes, f"left out {counted(len(columns.others), 'column')} of the list: {listed(columns.others)}")
        if columns.group is None:
            notes = (*notes, *likely_groups(frame[list(columns.others)].iloc[kept]))
        return items, notes

    return faults, take


def features(
    frame: Frame, columns: Columns, *, category: Sequence[str], places: Sequence[int]
) -> tuple[list[Fault], Take]:
    """Encodes the columns that are neither labels nor groups as features.

    Args:
        frame: Some rows of a table.
        columns: The roles of its columns.
        category: Features that hold names.
        places: The positions of the rows in the table.
    """
    infer = require("pandas", extra="data", purpose="A table").api.types.infer_dtype
    own = frame[list(columns.others)].copy()
    for name in columns.others:
        if name in category or infer(own[name]) in ("datetime64", "datetime", "date"):  # dates become text, as in a CSV
            own[name] = as_names(frame[name])
    faults = feature_faults(own.drop(columns=list(category)))

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        used = own.iloc[kept]
        items, notes = encode_features(used, places=[places[i] for i in kept], named=category)
        if columns.group is None:
            notes = (*notes, *likely_groups(used))
        return items, notes

    return faults, take


def known_features(frame: Frame, like: FeatureRows) -> tuple[list[Fault], Take]:
    """Encodes features with the columns and codes of other rows."""
    rows, notes, wrong = encode_like(frame, columns=like.columns, categories=like.categories)
    faults = [cell_fault(frame[name], cells) for name, cells in wrong.items()]

    def take(kept: list[int]) -> tuple[Items, tuple[str, ...]]:
        items = rows.take(kept)
        return items, (*notes, *odd_values(items))

    return faults, take
