"""Opens a known data set, a folder, a CSV or a parquet file as a manifest."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from onepeak._home import expanded
from onepeak._nearest import did_you_mean, did_you_mean_file
from onepeak.data.datasets import DATASETS
from onepeak.data.declared_order import Order, classes_file
from onepeak.data.folder import read_folder
from onepeak.data.frame import from_frame
from onepeak.data.frame_columns import GROUP, LABEL, PATH
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.picture_list import refuse_names
from onepeak.data.table_file import CSV_SUFFIXES, PARQUET_SUFFIXES, read_table
from onepeak.data.written_numbers import columns_with_points
from onepeak.errors import InputError, Page


def open_data(
    data: str | Path,
    *,
    root: str | Path | None = None,
    order: Order | None = None,
    label: str | None = None,
    group: str | None = None,
    path: str | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    decimal: str | None = None,
    skip_bad: bool = False,
    like: FeatureRows | None = None,
    keep_classes: bool = True,
) -> Manifest:
    """Opens a data set. The manifest's `notes` list the choices made while reading.

    Args:
        data: The name of a known set (`onepeak datasets`), a folder with one folder per class, a CSV with
            `path,label[,group]`, or a table of features (CSV or parquet). A folder with the name of a known set is
            opened as `./hci`.
        root: For a known set, its folder; for a list of images, the folder that the paths are relative to (by default
            that of the list).
        order: Names of the classes, lowest first: `"a,b,c"`, `"0..69"`, or a `.txt` file with one name per line.
            By default it is read from `classes.txt` beside the data, if there is one; integers are sorted.
        label: The column of labels, by default `label`.
        group: The column of groups, by default `group` if there is one.
        path: The column of image paths in a list, by default `path` if there is one.
        category: For a table of features, columns that hold names, even if these are written in digits.
        drop: For a table of features, columns to ignore, such as an id.
        decimal: For features in a CSV, "," if commas in numbers are decimal even where they might separate thousands;
            see `onepeak.data.table_file.read_table`.
        skip_bad: Whether to leave out, with a note, rows of a list or table that cannot be used; see `from_frame`.
        like: For a table of features, rows whose columns and codes to use, such as those a model was trained on.
        keep_classes: For a list or table, whether to raise an error if all items of a class would be left out; see
            `from_frame`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wine.csv"
        ...     _ = file.write_text("acid,quality" + chr(10) + "7.4,5" + chr(10) + "7.8,6")
        ...     open_data(file, label="quality").classes
        ('5', '6')
    """
    place = expanded(data)
    for_tables = {"category": category or None, "drop": drop or None, "decimal": decimal}
    if like is not None and (data in DATASETS or place.is_dir()):
        raise InputError(f"`like` is for a table of features, got images: leave it out for {data}.")
    if isinstance(data, str) and data in DATASETS:
        _refuse_unused(f"the data set {data}", order=order, label=label, group=group, path=path, **for_tables)
        return DATASETS[data].open(root)
    if not place.exists():
        known = [record.name for record in DATASETS]
        question = did_you_mean_file(place) or did_you_mean(str(data), known)
        raise InputError(
            f"There is no file or folder {str(data)!r}.{question} Known data sets: {', '.join(known)}.",
            page="table" if place.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES) else "images",
        )
    if place.is_dir():
        _refuse_unused(f"the folder {place}", root=root, label=label, group=group, path=path, **for_tables)
        try:
            return _own(read_folder(place, order=order))
        except InputError as error:
            raise InputError(f"{error}{_known_set(place)}", page="images") from error

    label, pictures = label or LABEL, path or PATH
    as_text = (label, group or GROUP, pictures, *category, *drop) if like is None else None
    table = read_table(place, as_text=as_text, decimal=decimal)
    is_list = pictures in table.frame.columns and pictures not in drop
    if is_list:
        _refuse_unused("a list of images", decimal=decimal)
    frame, notes = table.frame, table.notes
    if like is not None:
        numbers = [name for name in like.columns if name not in like.categories]
        frame, with_commas = columns_with_points(frame, numbers, commas=table.commas)
        notes = (*notes, *with_commas)
    if order is None:
        order = classes_file(place.parent) if table.order is None else table.order
    try:
        if like is None and not is_list:
            others = frame.drop(columns=[label, group or GROUP, *category, *drop], errors="ignore")
            refuse_names(others, folder=place.parent if root is None else expanded(root))
        manifest = from_frame(
            frame,
            label=label,
            order=order,
            group=group,
            path=path,
            category=category,
            drop=drop,
            root=place.parent if root is None and is_list else root,
            skip_bad=skip_bad,
            like=like,
            keep_classes=keep_classes,
            faults=table.faults,
            name=place.stem,
        )
    except InputError as error:
        page: Page = "images" if is_list else "table"
        raise InputError(f"{place}: {error}", page=None if error.page else page) from error
    return _own(replace(manifest, notes=(*notes, *manifest.notes)))


def _own(manifest: Manifest) -> Manifest:
    """Renames user data that have the name of a known set, which would imply its protocol and published results."""
    return replace(manifest, name=f"own-{manifest.name}") if manifest.name in DATASETS else manifest


def _known_set(folder: Path) -> str:
    """Returns a hint if a folder that cannot be read as class folders looks like a known set."""
    for record in DATASETS:
        try:
            if record.read is not None and len(record.read(folder)):
                return f" If this is the data set {record.name}, give its name and `root` (--root {folder})."
        except InputError:
            continue
    return ""


def _refuse_unused(what: str, **settings: object) -> None:
    """Raises an error for settings that would have no effect."""
    for name, value in settings.items():
        if value is not None:
            raise InputError(f"`{name}` (--{name}) has no use for {what}: leave it out.")
