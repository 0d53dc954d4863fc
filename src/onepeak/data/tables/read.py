"""A table on disk, CSV or parquet, as a pandas DataFrame whose index is the number of each row in the file."""

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from onepeak._core.files import read_text
from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted, listed, visible
from onepeak.data.images.folder import IMAGE_SUFFIXES
from onepeak.data.tables.cells import Commas, typed
from onepeak.data.tables.columns import repeated
from onepeak.data.tables.faults import FEW, Fault
from onepeak.errors import InputError

CSV_SUFFIXES = (".csv", ".tsv")
PARQUET_SUFFIXES = (".parquet", ".pq")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table and, if its file declares one, the order of the labels."""

    frame: Frame
    order: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    misfits: dict[int, str] = field(default_factory=dict)
    """Messages for rows with too few or too many fields, by line; all cells of such a row are empty."""
    faults: tuple[Fault, ...] = ()
    """Faults in these rows, and in cells of numeric columns, which are left without a value."""
    commas: Commas = "never"
    """When a comma in a number is decimal."""

    def typed(self, as_text: Collection[str]) -> "Table":
        """Returns a CSV that was read as text with numbers in its numeric columns, except in those of `as_text`."""
        frame, wrong, with_commas = typed(self.frame, as_text=as_text, commas=self.commas)
        return replace(self, frame=frame, faults=(*self.faults, *wrong), notes=(*self.notes, *with_commas))


def read_table(
    path: Path,
    *,
    empty: bool = False,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Collection[str] = (),
) -> Table:
    """Reads a CSV (comma, semicolon or tab; UTF-8; with a header) as text, or a parquet file.

    Faults in single rows raise no error here; they are listed in `faults`. The rows of a CSV are named by their line,
    the header being row 1; with `empty`, one with nothing but separators counts. With `decimal` ",", commas in numbers
    are decimal even where they might separate thousands; by default only in files separated by semicolons or tabs, in
    unambiguous columns, which a note lists. `missing` are further cells that stand for a missing value.
    """
    suffix = path.suffix.lower()
    if decimal not in (None, ","):
        raise InputError(
            f"`decimal` must be ',' or left out, got {decimal!r}: a point is always decimal.", argument="decimal"
        )
    if suffix in PARQUET_SUFFIXES:
        for name, value in (("decimal", decimal), ("encoding", encoding), ("missing", missing)):
            if value:
                raise InputError(f"`{name}` does nothing for a parquet file: leave it out.", argument=name)
        return Table(frame=_read_parquet(path))
    if suffix not in CSV_SUFFIXES:
        known = ", ".join((*CSV_SUFFIXES, *PARQUET_SUFFIXES))
        raise InputError(f"A table must be a file that ends in {known}, got {path.name}. Save it as CSV or parquet.")
    pandas = require("pandas", extra="data", purpose="A table")
    numbers, lines, separator = csv_rows(path, empty=empty, encoding=encoding)
    commas: Commas = "always" if decimal is not None else "never" if separator == "," else "certain"
    faults, misfits, order, notes = list[Fault](), dict[int, int](), None, tuple[str, ...]()
    if (indexed := class_index_table(lines)) is not None:
        header, lines, order = indexed
        notes = ("first row read as: rows, features, names of the classes in their order",)
    else:
        header, lines = [visible(name.strip()) for name in lines[0]], lines[1:]
        _check_header(path, header)
        misfits = {n: len(line) for n, line in zip(numbers[1:], lines, strict=True) if len(line) != len(header)}
    if not lines:
        raise InputError(f"{path} has a header and no rows.")
    must = f"must have {counted(len(header), 'field')}, like the header"
    if misfits:
        shown = listed((f"row {number} ({own})" for number, own in misfits.items()), limit=FEW)
        do_not = f"{counted(len(misfits), 'row')} {'does' if len(misfits) == 1 else 'do'} not"
        fault = Fault(
            indices=tuple(index for index, number in enumerate(numbers[1:]) if number in misfits),
            sentence=f"Every row {must}, but {do_not}: {shown}",
            advice="Correct them",
            reason="more or fewer fields than the header",
            unread=True,
        )
        if len(misfits) == len(lines):
            raise InputError(f"{fault.sentence}. Correct the header of {path.name}, or the rows.")
        faults.append(fault)
    gone = frozenset(missing)
    cells = [
        ["" if cell.strip() in gone else cell for cell in line] if len(line) == len(header) else [""] * len(header)
        for line in lines
    ]
    return Table(
        frame=pandas.DataFrame(cells, columns=header, index=numbers[1:], dtype=object),
        order=order,
        notes=notes,
        misfits={number: f"{must}, got {own}" for number, own in misfits.items()},
        faults=tuple(faults),
        commas=commas,
    )


def csv_rows(path: Path, *, empty: bool = False, encoding: str | None = None) -> tuple[list[int], list[list[str]], str]:
    """Reads the non-empty rows of a CSV as text: the line on which each ends, the rows, and the separator.

    With `empty`, rows below the header that have nothing but separators are included.
    """
    text = read_text(path, encoding, fix="give its encoding with `encoding` (--encoding cp1252)")
    first = re.sub(r'"[^"]*"', "", text.lstrip().partition("\n")[0])  # quoted text may contain any separator
    separator = max(",;\t", key=first.count)
    if '"' in text:
        _refuse_open_quotes(path, text, separator)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    numbers, rows = list[int](), list[list[str]]()
    try:
        for row in reader:
            if any(field.strip() for field in row) or (empty and rows and len(row) > 1):
                numbers.append(reader.line_num)
                rows.append(row)
    except csv.Error as error:
        raise InputError(f"{path.name}, row {reader.line_num}: {error}.") from None
    if not rows:
        raise InputError(f"{path} is empty.")
    return numbers, rows, separator


def _refuse_open_quotes(path: Path, text: str, separator: str) -> None:
    """Raises an error for a quotation mark that opens a cell and is closed rows later, or never: it swallows rows."""
    reader, begin = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 1
    try:
        for _ in reader:
            begin = reader.line_num + 1
    except csv.Error:
        if reader.line_num > begin:
            raise InputError(
                f"{path.name}, row {begin}: a cell begins with a quotation mark that is not closed in its row, so that "
                f"it would swallow rows to {reader.line_num} and perhaps more. Delete the mark, or write it twice "
                "within quotes."
            ) from None


def _check_header(path: Path, header: Sequence[str]) -> None:
    if twice := repeated(header):
        raise InputError(f"The columns of {path.name} must have different names, got {listed(twice)} more than once.")
    if all(map(_NUMBER.fullmatch, header)) or any(Path(name).suffix.lower() in IMAGE_SUFFIXES for name in header):
        raise InputError(
            f"The first row of {path.name} must name the columns, it reads {listed(header)}. "
            "Add a header: path,label for images, or the names of the features and the label.",
            page="table",
        )


def _read_parquet(path: Path) -> Frame:
    pandas = require("pandas", extra="data", purpose="A table")
    require("pyarrow", extra="data", purpose="A parquet file")
    try:
        frame: Frame = pandas.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{path} cannot be read as parquet: {reason}.") from error
    if not len(frame):
        raise InputError(f"{path} has no rows.")
    frame = frame.reset_index(drop=frame.index.names == [None])
    frame.index = pandas.RangeIndex(1, len(frame) + 1)
    return frame


def class_index_table(
    lines: Sequence[Sequence[str]],
) -> tuple[list[str], list[list[str]], tuple[str, ...]] | None:
    """Reads a table whose first row counts its rows and features and names its classes, as scikit-learn writes it.

    Returns the names of the columns, the rows and the classes, lowest first; None if the counts do not match the table.
    """
    first, rest = lines[0], lines[1:]
    classes = tuple(name.strip() for name in first[2:])
    if (
        len(classes) < 2
        or not rest
        or [field.strip() for field in first[:2]] != [str(len(rest)), str(len(rest[0]) - 1)]
    ):
        return None
    indices = {str(index): name for index, name in enumerate(classes)}
    if any(len(line) != len(rest[0]) or line[-1].strip() not in indices for line in rest):
        return None
    columns = [f"x{position}" for position in range(1, len(rest[0]))] + ["label"]
    return columns, [[*line[:-1], indices[line[-1].strip()]] for line in rest], classes
