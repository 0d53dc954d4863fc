"""One way in: a known set's name, a folder, a CSV or a parquet file becomes a manifest."""

from dataclasses import replace
from pathlib import Path

from onepeak._registry import unknown_name
from onepeak.data.datasets import DATASETS
from onepeak.data.declared_order import Order, classes_file
from onepeak.data.folder import read_folder
from onepeak.data.frame import GROUP, LABEL, PATH, from_frame
from onepeak.data.manifest import Manifest
from onepeak.data.table_file import read_table
from onepeak.errors import InputError


def open_data(
    data: str | Path,
    *,
    root: str | Path | None = None,
    order: Order | None = None,
    label: str | None = None,
    group: str | None = None,
) -> Manifest:
    """Opens anybody's data. What the reader chose on the user's behalf is in the manifest's `notes`.

    Args:
        data: A known set (`onepeak datasets`), a folder with one folder per class, a CSV with `path,label[,group]`, or
            a table of features (CSV or parquet). To open a folder that is called like a known set, write `./hci`.
        root: For a known set, where it lies on disk; for a list of pictures, the folder the paths start from (that of
            the list by default).
        order: Names of the classes, lowest first: `"a,b,c"`, `"0..69"`, or a `.txt` file with one name a line. Without
            it a `classes.txt` beside the data is read; integers order themselves.
        label: The column of labels, `label` by default.
        group: The column of groups, `group` by default if there is one.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "wine.csv"
        ...     _ = path.write_text("acid,quality" + chr(10) + "7.4,5" + chr(10) + "7.8,6")
        ...     open_data(path, label="quality").classes
        ('5', '6')
    """
    path = Path(data)
    if str(data) in DATASETS:
        _refuse_unused(f"the data set {data}", order=order, label=label, group=group)
        return DATASETS[str(data)].open(root)
    if not path.exists():
        known = unknown_name("data set", str(data), [record.name for record in DATASETS])
        raise InputError(f"There is no file or folder {str(data)!r}. {known}")
    if path.is_dir():
        _refuse_unused(f"the folder {path}", root=root, label=label, group=group)
        return read_folder(path, order=order)
    return _open_table(path, root=root, order=order, label=label or LABEL, group=group)


def _open_table(path: Path, *, root: str | Path | None, order: Order | None, label: str, group: str | None) -> Manifest:
    table = read_table(path, as_text=(label, group or GROUP, PATH))
    declared = classes_file(path.parent) if order is None and table.order is None else None
    is_list = PATH in table.frame.columns
    try:
        manifest = from_frame(
            table.frame,
            label=label,
            order=order or table.order or declared,
            group=group,
            root=(root or path.parent) if is_list else root,
            name=path.stem,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return replace(manifest, notes=(*table.notes, *manifest.notes))


def _refuse_unused(what: str, **settings: object) -> None:
    """A setting that would do nothing is an error, so that nobody believes it did something."""
    for name, value in settings.items():
        if value is not None:
            raise InputError(f"`{name}` (--{name}) has no use for {what}: leave it out.")
