"""`onepeak predict`: a trained model's predictions for images or for the rows of a table."""

import io
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from onepeak._core.files import in_one_step
from onepeak.cli import options
from onepeak.cli.options import flag, refuse
from onepeak.cli.output import print_note, print_notes, print_table
from onepeak.data.order import label_key
from onepeak.errors import InputError

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from rich.text import Text

    from onepeak.posterior.predictions import Row, SourceName
    from onepeak.serving.images import Unnamed
    from onepeak.serving.model import Model
    from onepeak.serving.output import OutputColumns, PassthroughColumns, TextSink
    from onepeak.serving.predict import Failed
    from onepeak.serving.table_rows import TableRows

Format: TypeAlias = Literal["table", "csv", "json"]
READING: options.Flags = options.only("root", "path", "decimal", "encoding", "missing")
"""How lists and tables are read."""

_MOST_FAILED = 3
"""Samples without a prediction whose reason is told at the end too."""
_MOST_ROWS = 200
"""More are not shown: the table is made whole before it is printed."""
RARE = ("unlike", "refer")
"""Columns of the table that are there only where a row has something in them."""


@options.with_flags(reading=READING, posterior=options.POSTERIOR | options.RAW)
def predict(
    model: Path,
    inputs: Annotated[
        list[Path],
        typer.Argument(help="Images, folders or CSV lists of images; for a table model, one CSV or parquet file."),
    ],
    reading: dict[str, Any],
    posterior: dict[str, Any],
    keep: Annotated[list[str], flag("Output", "--keep", "Columns to copy to the output: id or id,patient.")] = [],  # noqa: B006
    as_csv: Annotated[bool, flag("Output", "--csv", "Print CSV (the default if output is not a terminal).")] = False,
    as_json: Annotated[bool, flag("Output", "--json", "Print JSON, one object per line.")] = False,
    out: Annotated[Path | None, flag("Output", "--out", "File to write: JSON for .json and .jsonl, else CSV.")] = None,
    group: Annotated[
        str | None, flag("Data", "--group", "One prediction for each group of this column, such as a patient.")
    ] = None,
    combine: Literal["worst", "mean", "median"] | None = None,
    batch_size: int | None = None,
    actions: Path | None = None,
    unsure: Literal["highest", "lowest", "ask"] = "highest",
    device: str = "auto",
    strict: Annotated[
        bool, flag("Output", "--strict", "Exit with 1 if a prediction is missing or an input unlike the training.")
    ] = False,
    quiet: Annotated[bool, flag("Output", "--quiet", "Hide the progress bar and the notes.")] = False,
) -> None:
    """Predicts the class of each image or row, with an interval of classes and the posterior.

    The headline is the class, or between which classes it lies if the interval holds several: the interval from
    lower_name to upper_name contains the true class for 9 in 10 samples (see --alpha). In CSV and JSON, predicted_class
    is the most likely class and predicted_index its position, counted from 0 (name and label hold the same). A
    prediction is paradoxical if its two most probable classes are not neighbours.

    A sample without a prediction gets a row with its error. The exit status is 1 if all samples fail; with --strict
    also if any fails or is unlike the training data, as the column unlike explains. Rows of a CSV are named by their
    line number; the header is line 1.

    Example: onepeak predict model out/try/photos --csv > predictions.csv
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json are two formats: give one of them.")
    from onepeak._core.wording import counted
    from onepeak.data.images.store.build import progress_of
    from onepeak.posterior.predictions import called
    from onepeak.serving import load, stream
    from onepeak.serving.actions import read_actions
    from onepeak.serving.images import is_list
    from onepeak.serving.output import OutputColumns, write_csv, write_json_lines
    from onepeak.serving.predict import (
        check_combine,
        group_notes,
        notes_of,
        predict_groups,
        unknown_notes,
        unlike_notes,
    )

    if group is None:
        refuse({"combine": combine}, "without --group")
    else:
        refuse({"keep": keep}, "with --group")
        keep = [group]
    form = _format(as_csv=as_csv, as_json=as_json, out=out)
    loaded = load(model, device=device)
    posterior_options = loaded.posterior_options(**posterior)
    check_combine(combine or "worst", posterior_options)
    to_do = read_actions(actions, loaded.classes)
    samples, source_name, passthrough, total = _samples(loaded, inputs, keep=keep, **reading)
    columns = partial(OutputColumns, classes=loaded.classes, actions=to_do, unsure=unsure)
    beside = columns(source_name=source_name, passthrough=passthrough)
    notes = notes_of(loaded, samples, posterior_options, source_name=source_name if group is None else "group")
    rows: Iterable[Row]
    left_out: list[Failed] = []
    if group is None:
        rows = stream(loaded, samples, batch_size=batch_size, posterior_options=posterior_options)
    else:
        assert passthrough is not None
        names, how = _groups(passthrough, group), combine or "worst"
        rows, left_out = predict_groups(loaded, samples, names, how, posterior_options, batch_size=batch_size)
        total, beside = len(rows), columns(source_name="group")
        in_groups = counted(sum(row.error is None for row in rows), "group")
        notes += (f"the {how} of {counted(len(names) - len(left_out), 'sample')} in {in_groups}",)
        notes += group_notes(loaded, how, posterior_options)
    if form != "table":
        notes += position_notes(loaded.classes)
    print_notes(() if quiet else notes)
    print_notes(unknown_notes(loaded.description) if strict else ())
    if left_out:
        first = f"{called(left_out[0].source, source_name)}: {left_out[0].error}"
        print_notes([f"{counted(len(left_out), 'sample')} without a prediction left out of the groups, first {first}"])
    # Rows on a terminal are their own progress, and a bar among them would tear them.
    bar = not quiet and sys.stderr.isatty() and (form == "table" or out is not None or not sys.stdout.isatty())
    failed: list[Row] = []
    unlike: list[tuple[str | int, tuple[str, ...]]] = []

    def watched() -> "Iterator[Row]":
        with progress_of(bar, title="Predicting", total=total) as report:
            for done, row in enumerate(rows, 1):
                if row.error is not None:
                    failed.append(row)
                if row.unlike:
                    unlike.append((row.source, row.unlike))
                report(done)
                yield row

    try:
        with _output_file(out) as file:
            writers = {"json": write_json_lines, "csv": write_csv, "table": _print_rows}
            writers[form](watched(), file, beside)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit would fail again
        raise typer.Exit(0) from None
    if strict or not quiet:
        print_notes(unlike_notes(unlike, total, source_name=beside.source_name))
    if failed:
        print_note(f"onepeak: {len(failed):,} of {total:,} have no prediction; the error column says why.")
        for row in failed[:_MOST_FAILED]:
            print_note(f"  {called(row.source, beside.source_name)}: {row.error}")
        if len(failed) > _MOST_FAILED:
            print_note(f"  ... and {len(failed) - _MOST_FAILED:,} more")
    if len(failed) == total:
        if beside.source_name == "path" and any(map(is_list, inputs)):
            print_note("If the paths of the list start from another folder, name it with --root.")
        raise typer.Exit(1)
    if out is not None and not quiet:
        print_note(f"predictions: {out}")
    if strict and (failed or left_out or unlike):
        print_note("onepeak: exit status 1 (--strict): a prediction is missing or an input is unlike the training.")
        raise typer.Exit(1)


def _format(*, as_csv: bool, as_json: bool, out: Path | None) -> Format:
    if as_json or (not as_csv and out is not None and out.suffix.lower() in (".json", ".jsonl")):
        return "json"
    return "table" if not as_csv and out is None and sys.stdout.isatty() else "csv"


def _samples(
    model: "Model", inputs: list[Path], *, keep: list[str], **reading: Any
) -> "tuple[TableRows | list[Path | Unnamed], SourceName, PassthroughColumns | None, int]":
    """The samples, what each is called by, columns of the input that are kept beside them, and how many there are."""
    from onepeak.data.tables.columns import PATH
    from onepeak.serving.images import images_and_columns
    from onepeak.serving.table_rows import rows_of_file

    if model.reads_tables:
        refuse({name: reading.get(name) for name in ("root", "path")}, "for a model of a table")
        assert model.description.table is not None
        if len(inputs) != 1:
            raise InputError(
                f"`inputs` must be one CSV or parquet file, as the model reads a table, got {len(inputs)}."
            )
        table = rows_of_file(inputs[0], model.description.table, keep=keep, **reading)
        return table, table.source_name, table.passthrough, len(table.rows)
    refuse({name: reading.get(name) for name in ("decimal", "missing")}, "for a model of images")
    path = reading.pop("path", None)
    columns = (model.description.path or PATH, PATH) if path is None else (path,)  # the training's, if the list has it
    images = images_and_columns(inputs, columns=columns, keep=keep, **reading)
    return images.paths, "path", images.passthrough, len(images.paths)


def _groups(passthrough: "PassthroughColumns", group: str) -> list[str]:
    """The group of every sample."""
    from onepeak._core.wording import counted

    names = ["" if row[0] is None else str(row[0]).strip() for row in passthrough.rows]
    if "" in names:
        raise InputError(
            f"`--group` column {group!r} must name the group of every sample, got "
            f"{counted(names.count(''), 'sample')} without one: give each its own group."
        )
    return names


def position_notes(classes: tuple[str, ...]) -> tuple[str, ...]:
    """A note where the classes are numbers, so that their indices could be taken for classes."""
    numbers = [label_key(name) for name in classes]
    if not all(isinstance(number, int) for number in numbers) or numbers == list(range(len(numbers))):
        return ()
    return (
        "`predicted_index`, `lower` and `upper` count the classes from 0; the classes themselves are "
        f"`predicted_class`, `lower_name` and `upper_name` (0 is {classes[0]})",
    )


@contextmanager
def _output_file(out: Path | None) -> "Iterator[TextSink]":
    """The file to write to, UTF-8 but on a terminal; names of files that are no text go through as their bytes."""
    if out is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            encoding = None if sys.stdout.isatty() else "utf-8"  # that of the system may lack signs of a class's name
            sys.stdout.reconfigure(encoding=encoding, errors="surrogateescape")
        yield sys.stdout
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
            raise IsADirectoryError(0, "it is a folder") if out.is_dir() else PermissionError(0, "no permission")
    except OSError as error:
        raise InputError(f"`--out` must be a file that can be written, got {out}: {error.strerror}.") from None
    whole = nullcontext(out) if out.exists() and not out.is_file() else in_one_step(out)  # a pipe cannot be renamed
    with whole as part, part.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        yield file


def _print_rows(rows: "Iterable[Row]", _: "TextSink", columns: "OutputColumns") -> None:
    """Prints the first rows as a table, and how many more there are; all of them are taken."""
    from onepeak.serving.output import beside

    every = beside(rows, columns.passthrough)
    shown = list(islice(every, _MOST_ROWS))
    more = sum(1 for _ in every)
    # A column that is empty throughout is no use on a narrow screen.
    some = {"action": bool(columns.actions), **{name: any(getattr(row, name) for row, _ in shown) for name in RARE}}
    last = [name for name, there in some.items() if there]
    figures = ("prediction", "most likely", "p", "side order", "one peak")
    print_table(
        (columns.source_name, *columns.kept_names, *figures, *last),
        [
            (*("" if cell is None else str(cell) for cell in (row.source, *cells)), *_cells(row, columns, last))
            for row, cells in shown
        ],
    )
    if more:
        typer.echo(f"... and {more:,} more rows (--csv, --json and --out give all).")


def _cells(row: "Row", columns: "OutputColumns", last: list[str]) -> "list[Text]":
    from rich.text import Text

    from onepeak.posterior.predictions import unlike_text

    if row.log_probs is None or row.predicted_index is None or row.soi is None:
        return [Text(f"error: {row.error}", style="red")]
    values = columns.values(row) | {"unlike": unlike_text(row.unlike)}
    return [
        Text(str(row.headline), style="bold"),
        Text(str(row.predicted_class)),
        Text(f"{math.exp(row.log_probs[row.predicted_index]):.3f}"),
        Text(f"{row.soi:.3f}"),
        Text("no, paradox", style="red") if row.paradoxical else Text("yes" if row.unimodal else "no"),
        *(Text(values[name] or "", style="" if name == "action" else "red") for name in last),
    ]
