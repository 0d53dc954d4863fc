"""Where data come from: a known set, a folder, a CSV or a parquet file; opened as a manifest."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path

from onepeak._core.files import expanded
from onepeak._core.imports import Frame
from onepeak._core.registry import unknown_name
from onepeak._core.wording import did_you_mean, did_you_mean_file
from onepeak.data.datasets import DATASETS
from onepeak.data.images.folder import read_folder, refuse_names
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.order import Order, classes_file
from onepeak.data.tables.cells import columns_with_points, present_text, texts_of
from onepeak.data.tables.columns import GROUP, LABEL, PATH, label_columns
from onepeak.data.tables.frame import from_frame
from onepeak.data.tables.read import CSV_SUFFIXES, PARQUET_SUFFIXES, Table, read_table
from onepeak.errors import InputError, Page


@dataclass(frozen=True)
class DataSource:
    """Where data come from and how they are read: every command, experiment and Python call takes one.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wine.csv"
        ...     _ = file.write_text("acid,quality" + chr(10) + "7.4,5" + chr(10) + "7.8,6")
        ...     DataSource(file, label="quality").open().classes
        ('5', '6')
    """

    data: str | Path
    """The name of a known set (`onepeak datasets`), a folder with one folder per class, a CSV with
    `path,label[,group]`, or a table of features (CSV or parquet). A folder with the name of a known set is `./hci`."""
    _: KW_ONLY
    root: str | Path | None = None
    """For a known set, its folder; for a list of images, the folder that the paths are relative to (by default that of
    the list)."""
    order: Order | None = None
    """Names of the classes, lowest first: `"a,b,c"`, `"0..69"`, or a `.txt` file with one name per line. By default it
    is read from `classes.txt` beside the data, if there is one; integers are sorted."""
    label: str | None = None
    """The column of labels, by default `label`; or several, `"left,right"`, of which each row fills one."""
    raters: str | None = None
    """In place of `label`, the columns of several raters who each labelled the samples: `"ann,bob"`, or `"rater_*"`.
    Some cells may be empty. Training minimises the expected loss over the raters, and where one label of a sample is
    needed (to split, to calibrate, in metrics), it is their median (of two, the lower)."""
    label_probs: str | None = None
    """In place of `label`, one column per class, lowest first, with its probability or number of votes: `"p_0,p_1"` or
    `"p_*"`. The classes have the names of the columns, unless `order` gives them."""
    group: str | None = None
    """The column of groups, by default `group` if there is one."""
    path: str | None = None
    """The column of image paths in a list, by default `path` if there is one."""
    subgroup: Sequence[str] = ()
    """Columns by whose values figures are given, such as sex or site. Those of a table of features are features too,
    unless `drop` names them."""
    text: str | None = None
    """The column of texts, if the rows are texts."""
    columns: Sequence[str] = ()
    """With `text`, the columns that are features beside it."""
    category: Sequence[str] = ()
    """For a table of features, columns that hold names, even if these are written in digits."""
    drop: Sequence[str] = ()
    """For a table of features, columns to ignore, such as an id."""
    decimal: str | None = None
    """For features in a CSV, "," if commas in numbers are decimal even where they might separate thousands; see
    `onepeak.data.tables.read.read_table`."""
    encoding: str | None = None
    """The encoding of a CSV, such as `cp1252`, by default UTF-8."""
    missing: Sequence[str] = ()
    """Cells of a CSV that stand for a missing value, such as `-`, besides `NA`, `?` and others that always do."""
    skip_bad: bool = False
    """Whether to leave out, with a note, rows and images that cannot be used; see
    `onepeak.data.tables.frame.from_frame`."""

    def __post_init__(self) -> None:
        paths = ("data", "root")
        for name in (*paths, "label", "raters", "label_probs", "group", "path", "text", "decimal", "encoding"):
            value = getattr(self, name)
            if not isinstance(value, str | Path if name in paths else str) and (value is not None or name == "data"):
                raise InputError(f"`{name}` must be text, got {value!r}.")
        if len(given := [name for name in ("label", "raters", "label_probs") if getattr(self, name) is not None]) > 1:
            raise InputError(f"`{given[1]}` must be given in place of `{given[0]}`, got both.", argument=given[1])
        if isinstance(self.order, Sequence) and not isinstance(self.order, str):
            object.__setattr__(self, "order", tuple(self.order))
        elif self.order is not None and not isinstance(self.order, str | Path | range):
            raise InputError(f"`order` must be the classes, lowest first: 'a,b,c' or a list, got {self.order!r}.")
        for name in ("subgroup", "columns", "category", "drop", "missing"):
            names = getattr(self, name)
            if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
                kind = "cells" if name == "missing" else "columns"
                raise InputError(f"`{name}` must be a list of {kind}, got {names!r}.")
            object.__setattr__(self, name, tuple(names))
        if not isinstance(self.skip_bad, bool):
            raise InputError(f"`skip_bad` must be true or false, got {self.skip_bad!r}.")

    def resolved(self) -> "DataSource":
        """Returns the source with absolute paths, which mean the same in every folder."""

        def whole(path: str | Path) -> str:
            return str(expanded(path).resolve())

        order = self.order
        if isinstance(order, Path) or (isinstance(order, str) and order.strip().endswith(".txt")):
            order = whole(str(order).strip())
        data = str(self.data) if self.is_known else whole(self.data)
        return replace(self, data=data, root=None if self.root is None else whole(self.root), order=order)

    @property
    def is_known(self) -> bool:
        """Whether the data are a known set."""
        return isinstance(self.data, str) and self.data in DATASETS

    def table(self) -> Table | None:
        """Reads the list or table as text, if the data are one."""
        file = expanded(self.data)
        if self.is_known or not file.is_file():
            return None
        return read_table(file, decimal=self.decimal, encoding=self.encoding, missing=frozenset(self.missing))

    def open(
        self, *, like: FeatureRows | None = None, keep_classes: bool = True, table: Table | None = None
    ) -> Manifest:
        """Opens the data. The manifest's `notes` list the choices made while reading.

        Args:
            like: For a table of features, rows whose columns and codes to use, such as those a model was trained on.
            keep_classes: For a list or table, whether to raise an error if all items of a class would be left out; see
                `onepeak.data.tables.frame.from_frame`.
            table: The result of `table`, if it was called before.
        """
        file = expanded(self.data)
        if like is not None and (self.is_known or file.is_dir()):
            raise InputError(f"`like` is for a table of features, got images: leave it out for {self.data}.")
        if self.is_known:
            self._refuse(f"the data set {self.data}", but=("root",))
            return DATASETS[str(self.data)].open(self.root)
        if not file.exists():
            known = [record.name for record in DATASETS]
            question = did_you_mean_file(file) or did_you_mean(str(self.data), known)
            raise InputError(
                f"There is no file or folder {str(self.data)!r}.{question} Known data sets: {', '.join(known)}.",
                page="table" if file.suffix.lower() in (*CSV_SUFFIXES, *PARQUET_SUFFIXES) else "images",
            )
        if not file.is_dir():
            return _own(self._open_table(file, table or self.table(), like=like, keep_classes=keep_classes))
        self._refuse(f"the folder {file}", but=("order",))
        try:
            return _own(read_folder(file, order=self.order))
        except InputError as error:
            raise error.at(page="images") from error

    def _open_table(self, file: Path, table: Table | None, *, like: FeatureRows | None, keep_classes: bool) -> Manifest:
        """Opens a list of images or a table of features."""
        assert table is not None  # it is a file
        label = self.label or self.raters or self.label_probs or LABEL
        group, images = self.group or GROUP, self.path or PATH
        labels, written = label_columns(label, table.frame.columns), table.frame
        is_list = images in table.frame.columns and images not in self.drop and self.text is None
        if is_list:
            self._refuse("a list of images", but=(*_OF_A_LIST, "order", "category", "drop"))
        elif like is None and file.suffix.lower() in CSV_SUFFIXES:
            table = table.typed((*labels, group, *self.category, *self.drop, *([self.text] if self.text else ())))
        numbers, order = labels if self.label_probs else [], self.order
        if like is not None:
            numbers = [*numbers, *(name for name in like.columns if name not in like.categories)]
        frame, with_commas = columns_with_points(table.frame, numbers, commas=table.commas)
        notes = (*table.notes, *with_commas)
        if order is None:
            order = classes_file(file.parent) if table.order is None else table.order
        try:
            if like is None and not is_list and self.text is None:
                others = frame.drop(columns=[*labels, group, *self.category, *self.drop], errors="ignore")
                refuse_names(others, folder=file.parent if self.root is None else expanded(self.root))
            manifest = from_frame(
                frame,
                label=self.label or LABEL,
                raters=self.raters,
                label_probs=self.label_probs,
                order=order,
                group=self.group,
                path=self.path,
                text=self.text,
                columns=self.columns,
                category=self.category,
                drop=self.drop,
                root=file.parent if self.root is None and is_list else self.root,
                skip_bad=self.skip_bad,
                like=like,
                keep_classes=keep_classes,
                faults=table.faults,
                name=file.stem,
            )
        except InputError as error:
            page: Page = "images" if is_list else "table"
            raise error.at(file=str(file), page=page) from error
        return replace(manifest, notes=(*notes, *manifest.notes), subgroups=self._subgroups(written, manifest.rows))

    def _subgroups(self, frame: Frame, rows: Sequence[Hashable] | None) -> dict[str, tuple[str, ...]]:
        """Returns the values of the columns of subgroups, for the rows that are used."""
        found = {}
        for name in self.subgroup:
            if name not in frame.columns:
                error = unknown_name("column", name, list(frame.columns))
                raise InputError(str(error), argument="subgroup", fix="Name the column with `subgroup`.")
            cells = texts_of(frame[name].reindex(list(rows or ())))
            found[name] = tuple(present_text(cell) or "not given" for cell in cells)
            if (count := len(set(found[name]))) > _MOST_SUBGROUPS:
                raise InputError(
                    f"`subgroup` must name columns with at most {_MOST_SUBGROUPS} values, got {name!r} with {count:,}: "
                    "join values in a column of its own.",
                    argument="subgroup",
                )
        return found

    def _refuse(self, what: str, *, but: Collection[str]) -> None:
        """Raises an error for settings that have no use for these data."""
        for each in fields(self):
            if each.name not in ("data", "skip_bad", *but) and getattr(self, each.name) not in (None, ()):
                raise InputError(f"`{each.name}` does nothing for {what}: leave it out.", argument=each.name)


_OF_A_LIST = ("root", "label", "raters", "label_probs", "group", "path", "subgroup", "encoding", "missing")
_MOST_SUBGROUPS = 100


def _own(manifest: Manifest) -> Manifest:
    """Renames user data that have the name of a known set, which would imply its protocol and published results."""
    return replace(manifest, name=f"own-{manifest.name}") if manifest.name in DATASETS else manifest
