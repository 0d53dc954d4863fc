"""A folder with one folder per class."""

from pathlib import Path

from onepeak._listing import counted, listed
from onepeak.data.declared_order import Order, classes_file
from onepeak.data.manifest import ImageFiles, Manifest
from onepeak.data.order import order_labels
from onepeak.data.scan import Scan, scan
from onepeak.errors import InputError

_PARTS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})


def read_folder(root: Path, *, order: Order | None = None) -> Manifest:
    """Reads `root/<class>/**/<image>`: the name of the class folder is the label.

    The order comes from `order`, else from `root/classes.txt`; folders named by integers are sorted.

    Args:
        root: The folder that holds the class folders.
        order: Names of the classes, lowest first; see `onepeak.data.declared_order.Order`.

    Returns:
        A manifest whose items are sorted by path. A folder without images is a class only if the order names it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("mild/1.png", "mild/2.png", "severe/3.png"):
        ...         path = Path(folder) / name
        ...         path.parent.mkdir(exist_ok=True)
        ...         _ = path.write_bytes(b"")
        ...     data = read_folder(Path(folder), order="mild,severe")
        >>> data.items.paths, data.labels
        (('mild/1.png', 'mild/2.png', 'severe/3.png'), array([0, 0, 1]))
    """
    found = scan(root)
    beside = [path for path in found.pictures if "/" not in path]
    paths = tuple(path for path in found.pictures if "/" in path)
    names = [path.partition("/")[0] for path in paths]
    _refuse_other_layouts(root, found, sorted(set(names)), order)
    declared = None if order is not None else classes_file(root)
    ordered = order_labels(names, order=declared if order is None else order)
    empty = sorted(set(found.folders).difference(names, ordered.classes))
    notes = [*ordered.notes, *found.notes(used=() if declared is None else (declared.name,))]
    if beside:
        notes.append(f"left out {counted(len(beside), 'image')} beside the class folders ({listed(beside, limit=4)})")
    if empty:
        notes.append(f"{counted(len(empty), 'folder')} without an image, not used as a class ({listed(empty)})")
    return Manifest(
        name=root.resolve().name,
        items=ImageFiles(root=root, paths=paths),
        labels=ordered.labels,
        classes=ordered.classes,
        notes=tuple(notes),
    )


def _refuse_other_layouts(root: Path, found: Scan, names: list[str], order: Order | None) -> None:
    layout = f"Expected {root}/<class>/<image>, one folder per class"
    if not found.pictures:
        raise InputError(f"There are no images below {root}. {layout}.")
    if not names:
        raise InputError(
            f"{root} has {counted(len(found.pictures), 'image')} but no class folders. {layout}; "
            "or list the images in a CSV with the columns path,label and give that file."
        )
    if order is None and set(map(str.casefold, names)) <= _PARTS:
        raise InputError(
            f"The folders of {root} ({listed(names)}) look like parts of a split, not classes. {layout}: "
            "give one part, or list the images in a CSV."
        )
    if len(names) == 1 and len(_below(found, names[0])) > 1:
        raise InputError(
            f"{root} has the one folder {names[0]}, which holds folders itself ({listed(_below(found, names[0]))}). "
            f"{layout}. Did you mean {root / names[0]}?"
        )


def _below(found: Scan, folder: str) -> list[str]:
    """Returns the names of the subfolders that contain images."""
    inside = (path.split("/")[1:] for path in found.pictures if path.startswith(f"{folder}/"))
    return sorted({parts[0] for parts in inside if len(parts) > 1})
