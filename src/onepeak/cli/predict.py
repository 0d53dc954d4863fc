"""`onepeak predict`: a trained model's predictions for images or for the rows of a table."""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from onepeak.cli import options
from onepeak.cli.output import print_notes
from onepeak.data.order import label_key
from onepeak.errors import InputError

if TYPE_CHECKING:  # the packages behind these are loaded when the command runs, so that --help is fast
    from onepeak.serving.model import Model
    from onepeak.serving.output import OutputColumns, TextSink
    from onepeak.serving.passthrough_columns import PassthroughColumns
    from onepeak.serving.posterior_options import PosteriorOptions
    from onepeak.serving.prediction import Row, SourceName

Format: TypeAlias = Literal["table", "csv", "json"]

_MOST_FAILED = 3
"""Samples without an answer whose reason is told at the end too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Request:
    """What was given, and the answers as they come."""

    rows: "Iterator[Row]"
    total: int
    source_name: "SourceName"
    """What the rows are called by."""
    notes: tuple[str, ...]
    passthrough: "PassthroughColumns | None"
    """Columns of the input beside the answers."""
    from_list: bool = False
    """Whether images are named by a list."""


def predict(
    model: options.Model,
    inputs: Annotated[
        list[Path],
        typer.Argument(
            callback=options.at_home,
            help="Images, folders or CSV lists of images; for a table model, one CSV or parquet file.",
        ),
    ],
    root: options.Root = None,
    path: options.Images = None,
    decimal: options.Decimal = None,
    keep: Annotated[
        list[str], typer.Option("--keep", help="Columns to copy to the output: id or id,patient. Repeatable.")
    ] = [],  # noqa: B006
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV (the default if output is not a terminal).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(callback=options.at_home, help="File to write: JSON for .json and .jsonl, else CSV."),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Samples per batch (default: 32 images or 4096 rows).")
    ] = None,
    alpha: options.Alpha = None,
    decide: options.Decide = None,
    cost: options.Cost = None,
    project: options.Project = False,
    raw: options.Raw = False,
    actions: options.Actions = None,
    device: options.Device = "auto",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 1 if a prediction is missing or an input is unlike the training."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress bar and the notes.")] = False,
) -> None:
    """Predicts the class of each image or row, with an interval of classes and the posterior.

    In CSV and JSON, name is the predicted class and label its number, counted from 0. The interval from lower_name to
    upper_name contains the true class for 9 in 10 samples (see --alpha). A prediction is paradoxical if its two most
    probable classes are not neighbours.

    A sample without a prediction gets a row with its error. The exit status is 1 if all samples fail; with --strict
    also if any fails or is unlike the training data, as the column unlike explains. Rows of a CSV are named by their
    line number; the header is line 1.

    Example: onepeak predict model out/try/photos --csv > predictions.csv
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json are two formats: give one of them.")
    from onepeak.data.images.store.build import progress_of
    from onepeak.serving import load
    from onepeak.serving.actions import read_actions
    from onepeak.serving.out_of_range import unknown_notes, unlike_notes
    from onepeak.serving.output import OutputColumns

    form = _format(as_csv=as_csv, as_json=as_json, out=out)
    loaded = load(model, device=device)
    posterior_options = loaded.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project, raw=raw)
    to_do = read_actions(actions, loaded.classes)
    if loaded.reads_tables:
        _refuse({"--root": root, "--path": path}, "a table")
        request = _ask_rows(loaded, inputs, posterior_options, keep=keep, decimal=decimal, batch_size=batch_size)
    else:
        _refuse({"--decimal": decimal}, "images")
        request = _ask_images(loaded, inputs, posterior_options, root=root, path=path, keep=keep, batch_size=batch_size)
    columns = OutputColumns(
        source_name=request.source_name, classes=loaded.classes, passthrough=request.passthrough, actions=to_do
    )
    places = places_notes(loaded.classes) if form != "table" else []
    unknown = unknown_notes(loaded.description) if strict else ()
    print_notes(unknown if quiet else (*request.notes, *places, *unknown))
    # Rows on a terminal are their own progress, and a bar among them would tear them.
    bar = not quiet and sys.stderr.isatty() and (form == "table" or out is not None or not sys.stdout.isatty())
    failed: list[Row] = []
    unlike: list[tuple[str | int, tuple[str, ...]]] = []

    def watched() -> "Iterator[Row]":
        with progress_of(bar, title="Predicting", total=request.total) as report:
            for done, row in enumerate(request.rows, 1):
                if row.error is not None:
                    failed.append(row)
                if row.unlike:
                    unlike.append((row.source, row.unlike))
                report(done)
                yield row

    try:
        with _output_file(out) as file:
            _write(watched(), file, form, columns)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit would fail again
        raise typer.Exit(0) from None
    if strict or not quiet:
        print_notes(unlike_notes(unlike, request.total, source_name=request.source_name))
    if failed:
        _tell_failed(failed, request)
    if len(failed) == request.total:
        raise typer.Exit(1)
    if out is not None and not quiet:
        typer.echo(f"predictions: {out}", err=True)
    if strict and (failed or unlike):
        typer.echo(
            "onepeak: exit status 1 (--strict): a prediction is missing or an input is unlike the training.", err=True
        )
        raise typer.Exit(1)


def _tell_failed(failed: "list[Row]", request: _Request) -> None:
    from onepeak.serving.prediction import called

    typer.echo(
        f"onepeak: {len(failed):,} of {request.total:,} have no prediction; the error column says why.", err=True
    )
    for row in failed[:_MOST_FAILED]:
        typer.echo(f"  {called(row.source, request.source_name)}: {row.error}", err=True)
    if len(failed) > _MOST_FAILED:
        typer.echo(f"  ... and {len(failed) - _MOST_FAILED:,} more", err=True)
    if request.from_list and len(failed) == request.total:
        typer.echo("If the paths of the list start from another folder, name it with --root.", err=True)


def _format(*, as_csv: bool, as_json: bool, out: Path | None) -> Format:
    if as_json or (not as_csv and out is not None and out.suffix.lower() in (".json", ".jsonl")):
        return "json"
    return "table" if not as_csv and out is None and sys.stdout.isatty() else "csv"


def places_notes(classes: tuple[str, ...]) -> list[str]:
    """A note where the classes are numbers, so that their indices could be taken for classes."""
    numbers = [label_key(name) for name in classes]
    if not all(isinstance(number, int) for number in numbers) or numbers == list(range(len(numbers))):
        return []
    return [
        "`label`, `lower` and `upper` count the classes from 0; the classes themselves are `name`, `lower_name` and "
        f"`upper_name` (label 0 is {classes[0]})"
    ]


def _refuse(flags: dict[str, str | None], kind: str) -> None:
    for flag, value in flags.items():
        if value is not None:
            raise InputError(f"`{flag}` has no use for a model of {kind}: leave it out.")


def _ask_images(
    model: "Model",
    inputs: list[Path],
    posterior_options: "PosteriorOptions",
    *,
    root: str | None,
    path: str | None,
    keep: list[str],
    batch_size: int | None,
) -> _Request:
    from onepeak.data.images.depth import depth_notes
    from onepeak.data.tables.columns import PATH
    from onepeak.serving.images import images_and_columns, is_list
    from onepeak.serving.model import IMAGES_A_BATCH
    from onepeak.serving.streaming import stream

    about = model.description
    columns = (about.path or PATH, PATH) if path is None else (path,)  # that of the training, where the list has it
    images = images_and_columns(inputs, columns=columns, keep=keep, root=root)
    files = [image for image in images.paths if isinstance(image, Path)]
    return _Request(
        rows=stream(model, images.paths, batch_size=batch_size or IMAGES_A_BATCH, posterior_options=posterior_options),
        total=len(images.paths),
        source_name="path",
        notes=(*depth_notes(files, about.bits, asked=True), *posterior_options.notes(about.calibration)),
        passthrough=images.passthrough,
        from_list=any(map(is_list, inputs)),
    )


def _ask_rows(
    model: "Model",
    inputs: list[Path],
    posterior_options: "PosteriorOptions",
    *,
    keep: list[str],
    decimal: str | None,
    batch_size: int | None,
) -> _Request:
    from onepeak.serving.model import ROWS_A_BATCH
    from onepeak.serving.streaming import stream_rows
    from onepeak.serving.table_rows import rows_of_file

    about = model.description
    assert about.table is not None
    if len(inputs) != 1:
        raise InputError(f"`inputs` must be one CSV or parquet file, as the model reads a table, got {len(inputs)}.")
    table = rows_of_file(inputs[0], about.table, keep=keep, decimal=decimal)
    return _Request(
        rows=stream_rows(model, table, batch_size=batch_size or ROWS_A_BATCH, posterior_options=posterior_options),
        total=len(table.rows),
        source_name=table.source_name,
        notes=(*table.notes, *posterior_options.notes(about.calibration)),
        passthrough=table.passthrough,
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
        file = out.open("w", encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as error:
        raise InputError(f"`--out` must be a file that can be written, got {out}: {error.strerror}.") from None
    with file:
        yield file


def _write(rows: "Iterable[Row]", file: "TextSink", form: Format, columns: "OutputColumns") -> None:
    from onepeak.cli.prediction_table import print_answers
    from onepeak.serving.output import write_csv, write_json_lines

    match form:
        case "json":
            write_json_lines(rows, file, columns)
        case "csv":
            write_csv(rows, file, columns)
        case "table":
            print_answers(rows, columns)
