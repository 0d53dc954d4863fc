"""Data sets from pandas tables: a list of images if there is a column of paths, rows of features otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from onepeak._core.files import expanded
from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted, listed
from onepeak.data.images.dicom import patients_of
from onepeak.data.images.folder import find_images, image_files
from onepeak.data.manifest import FeatureRows, ImageFiles, Items, Manifest, Texts, group_note
from onepeak.data.order import Order, read_labels
from onepeak.data.tables.cells import names_of, texts_of
from onepeak.data.tables.columns import LABEL, PATH, likely_groups, one_label, roles_of, several_columns
from onepeak.data.tables.encode import cell_fault, encode_features, encode_like, feature_faults, odd_values
from onepeak.data.tables.faults import Fault, missing_cells, refuse_lost, rows_without
from onepeak.data.tables.raters import read_probabilities, read_ratings
from onepeak.errors import InputError


def from_frame(
    frame: Frame,
    *,
    label: str = LABEL,
    raters: str | None = None,
    label_probs: str | None = None,
    order: Order | None = None,
    group: str | None = None,
    path: str | None = None,
    text: str | None = None,
    columns: Sequence[str] = (),
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    root: str | Path | None = None,
    skip_bad: bool = False,
    like: FeatureRows | None = None,
    keep_classes: bool = True,
    faults: Sequence[Fault] = (),
    name: str = "frame",
) -> Manifest:
    """Makes a data set from a pandas DataFrame.

    With a column of paths the rows are images (path, label, group; other columns are left out). Otherwise every column
    except label and group is a feature: numbers as float64, booleans as 0 and 1, text and categories as codes, missing
    values as NaN. The manifest's `notes` list these choices. Faulty cells are reported all at once.

    Args:
        frame: The table.
        label: The column of labels; or several, `"left,right"`, of which each row fills one. An ordered categorical
            column defines its own order.
        raters: As in `onepeak.data.DataSource`, like the next eight.
        label_probs: Columns of probabilities.
        order: The classes, lowest first.
        group: The column of groups.
        path: The column of image paths.
        text: The column of texts; only `columns` are features then.
        columns: Features beside the texts.
        category: Columns that hold names.
        drop: Columns to ignore.
        root: For images: the folder that the paths are relative to, by default the current one.
        skip_bad: Whether to leave out, with a note, rows that cannot be used (no label, a label not in the order, no
            group, an infinite number, an image that does not exist), if they are at most half of the rows.
        like: For features: rows whose columns and codes to use, such as those of a training table. Other columns are
            ignored, and names without a code become missing values.
        keep_classes: Whether to raise an error if all items of a class would be left out. Ignored with `like`, whose
            rows define the classes.
        faults: Faults that are already known, such as those found while reading the file.
        name: The name of the data set.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame({"size": [1.0, 2.5, None], "grade": ["low", "high", "low"]})
        >>> data = from_frame(table, label="grade", order="low,high")
        >>> data.items.values.tolist(), data.labels
        ([[1.0], [2.5], [nan]], array([0, 1, 0]))
    """
    pandas = require("pandas", extra="data", purpose="A table")
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(f"`frame` must be a pandas DataFrame, got {type(frame).__name__}.")
    if not len(frame):
        raise InputError("The table must have at least one row, got none.")
    several, label_notes, labels_of_rows = list[Fault](), tuple[str, ...](), frame
    if raters and label_probs:
        raise InputError("`label_probs` must be given in place of `raters`, got both.", argument="label_probs")
    if kind := "raters" if raters else "label_probs" if label_probs else None:
        names = several_columns(frame, kind, raters or label_probs or "")
        labels_of_rows, label = frame[names], ",".join(names)
        frame = frame.drop(columns=names).assign(**{label: ""})
    else:
        frame, several, label_notes = one_label(frame, label)
    faults = [*faults, *several]
    if like is not None and like.texts is not None:
        text = like.texts.column
    group, path, names = roles_of(
        frame,
        label=label,
        group=group,
        path=path,
        text=text,
        columns=columns,
        category=category,
        drop=drop,
        read_as="" if like is None else "rows that are read with `like`",
    )
    if like is not None and path is not None:
        raise InputError(f"`like` is for a table of features, but the column {path!r} names images: leave it out.")
    source = ""
    if order is None and getattr(frame[label].dtype, "ordered", False):
        order, source = [str(name) for name in frame[label].cat.categories], "the column's categories"

    unread = {index for fault in faults if fault.unread for index in fault.indices}
    readable = [index for index in range(len(frame)) if index not in unread]
    part = frame.iloc[readable]
    rows, others, folder = part.index.tolist(), part[names], expanded("." if root is None else root)
    if path is not None:
        faults = [fault for fault in faults if fault.unread or fault in several]  # other columns are not read
        written = part[path].tolist()
        found, own_faults = find_images(written, root=folder, rows=rows, column=path)
    elif like is not None:
        known, notes, wrong = encode_like(part, columns=like.plain_columns, categories=like.categories)
        own_faults = [cell_fault(part[name], cells) for name, cells in wrong.items()]
    else:
        infer = pandas.api.types.infer_dtype
        dates = [name for name in names if infer(others[name]) in ("datetime64", "datetime", "date")]
        others = others.copy()
        for column in {*category, *dates}:  # dates become text, as in a CSV
            others[column] = names_of(others[column])
        own_faults = feature_faults(others.drop(columns=list(category)))
    distribution = None
    if kind is None:
        plain = [None if gone else value for value, gone in zip(part[label].tolist(), part[label].isna(), strict=True)]
        ordered, label_faults = read_labels(plain, order=order, source=source, rows=rows)
    else:
        read = read_ratings if kind == "raters" else read_probabilities
        ordered, distribution, label_faults = read(labels_of_rows.iloc[readable], order=order, rows=rows)
    own_faults += label_faults
    if group is not None:
        groups_of_rows = texts_of(part[group])
        advice = "Give each row that belongs to no group a unique name"
        own_faults += missing_cells(f"a group in {group!r}", groups_of_rows, rows, advice=advice)
    if text is not None:
        texts = texts_of(part[text])
        own_faults += missing_cells(f"a text in {text!r}", texts, rows)
    own_faults = [replace(fault, indices=tuple(readable[index] for index in fault.indices)) for fault in own_faults]
    good, left_out = rows_without([*faults, *own_faults], rows=frame.index.tolist(), skip_bad=skip_bad)
    assert ordered is not None  # otherwise there is a fault

    used = np.flatnonzero(np.isin(readable, good)).tolist()
    labels = ordered.labels[used]
    if keep_classes and like is None:
        lost = set(ordered.labels.tolist()).difference(labels.tolist(), [-1])
        refuse_lost([ordered.classes[code] for code in sorted(lost)], left_out)
    items: Items
    groups = None if group is None else tuple(groups_of_rows[index] for index in used)
    if path is not None:
        existing = [file for index in used if (file := found[index]) is not None]
        items, notes = image_files(existing, root=folder, written=[written[index] for index in used])
        if names:
            notes = (*notes, f"left out {counted(len(names), 'column')} of the list: {listed(names)}")
    elif like is not None:
        items = known.take(used)
        notes = (*notes, *(odd_values(items) if items.columns else ()))
    elif names or text is None:
        positions = [readable[index] for index in used]
        items, notes = encode_features(others.iloc[used], positions=positions, named=category)
    else:
        items, notes = FeatureRows(columns=(), values=np.empty((len(used), 0))), ()
    if group is None and like is None:
        notes = (*notes, *likely_groups(others.iloc[used]))
    if text is not None and isinstance(items, FeatureRows):
        items = replace(items, texts=Texts(column=text, values=tuple(texts[index] for index in used)))
        left = [name for name in part.columns if name not in (label, group, text, *names)]
        if left and like is None:
            notes = (*notes, f"left out {counted(len(left), 'column')} beside the texts: {listed(left)}")
    if path is None and root is not None:
        raise InputError(f"`root` does nothing for a table of features (it has no column `{PATH}`): leave it out.")
    if group is None and isinstance(items, ImageFiles):
        groups, of_patients = patients_of(items.root, items.paths)
        notes = (*notes, *of_patients)
    return Manifest(
        name=name,
        items=items,
        labels=labels,
        distribution=distribution and distribution.take(np.array(used)),
        classes=ordered.classes,
        groups=groups,
        rows=tuple(rows[index] for index in used),
        label_column=label,
        group_column=group,
        path_column=path,
        num_left_out=len(frame) - len(used),
        notes=(*left_out, *label_notes, *ordered.notes, *notes, *group_note(groups, group)),
    )
