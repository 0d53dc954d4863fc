"""`onepeak predict`: a trained model's predictions for images or for the rows of a table."""

import io
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from onepeak.cli import options
from onepeak.cli.output import print_notes
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

_MOST_FAILED = 3
"""Samples without an answer whose reason is told at the end too."""
_MOST_ROWS = 200
"""More are not shown: the table is made whole before it is printed."""


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
    encoding: options.Encoding = None,
    missing: options.Missing = [],  # noqa: B006
    keep: Annotated[
        list[str], options.repeated("Output", "--keep", "Columns to copy to the output: id or id,patient.")
    ] = [],  # noqa: B006
    as_csv: Annotated[
        bool, options.switch("Output", "--csv", "Print CSV (the default if output is not a terminal).")
    ] = False,
    as_json: Annotated[bool, options.switch("Output", "--json", "Print JSON, one object per line.")] = False,
    out: Annotated[
        Path | None,
        options.path_flag("Output", "--out", "File to write: JSON for .json and .jsonl, else CSV."),
    ] = None,
    group: Annotated[
        str | None, options.flag("Data", "--group", "One prediction for each group of this column, such as a patient.")
    ] = None,
    combine: Annotated[
        Literal["worst", "mean", "median"] | None,
        options.flag("Prediction", "--combine", "How the samples of a group become one prediction (default: worst)."),
    ] = None,
    batch_size: options.PredictBatch = None,
    alpha: options.Alpha = None,
    decide: options.Decide = None,
    cost: options.Cost = None,
    project: options.Project = False,
    raw: options.Raw = False,
    actions: options.Actions = None,
    unsure: options.Unsure = "highest",
    device: options.Device = "auto",
    strict: Annotated[
        bool,
        options.switch("Output", "--strict", "Exit with 1 if a prediction is missing or an input unlike the training."),
    ] = False,
    quiet: Annotated[bool, options.switch("Output", "--quiet", "Hide the progress bar and the notes.")] = False,
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
    from onepeak.serving.output import OutputColumns
    from onepeak.serving.predict import notes_of, predict_groups, unknown_notes, unlike_notes

    if group is not None:
        _refuse({"--keep": ",".join(keep) or None}, "predictions per group")
        keep = [group]
    else:
        _refuse({"--combine": combine}, "predictions without --group")
    if combine == "mean":  # predicts the mode of the mean
        _refuse({"--decide": decide, "--cost": cost, "--project": "" if project else None}, "--combine mean")
    form = _format(as_csv=as_csv, as_json=as_json, out=out)
    loaded = load(model, device=device)
    reading = loaded.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project, raw=raw)
    to_do = read_actions(actions, loaded.classes)
    samples: list[Path | Unnamed] | TableRows
    source_name: SourceName = "path"
    if loaded.reads_tables:
        _refuse({"--root": root, "--path": path}, "a model of a table")
        samples = _rows(loaded, inputs, keep=keep, decimal=decimal, encoding=encoding, missing=missing)
        total, source_name, passthrough = len(samples.rows), samples.source_name, samples.passthrough
    else:
        _refuse({"--decimal": decimal, "--missing": missing[0] if missing else None}, "a model of images")
        samples, passthrough = _images(loaded, inputs, root=root, path=path, keep=keep, encoding=encoding)
        total = len(samples)
    columns = OutputColumns(
        source_name=source_name, classes=loaded.classes, passthrough=passthrough, actions=to_do, unsure=unsure
    )
    notes = notes_of(loaded, samples, reading)
    answers: Iterable[Row]
    left_out: list[Failed] = []
    if group is None:
        answers = stream(loaded, samples, batch_size=batch_size, posterior_options=reading)
    else:
        assert passthrough is not None
        names = ["" if row[0] is None else str(row[0]).strip() for row in passthrough.rows]
        if "" in names:
            raise InputError(
                f"`--group` column {group!r} must name the group of every sample, got "
                f"{counted(names.count(''), 'sample')} without one: give each its own group."
            )
        how = combine or "worst"
        answers, left_out = predict_groups(loaded, samples, names, how, reading, batch_size=batch_size)
        total = len(answers)
        columns = OutputColumns(source_name="group", classes=loaded.classes, actions=to_do, unsure=unsure)
        told = counted(sum(row.error is None for row in answers), "group")
        notes += (f"the {how} of {counted(len(names) - len(left_out), 'sample')} in {told}",)
    places = places_notes(loaded.classes) if form != "table" else []
    unknown = unknown_notes(loaded.description) if strict else ()
    print_notes(unknown if quiet else (*notes, *places, *unknown))
    if left_out:
        first = f"{called(left_out[0].source, source_name)}: {left_out[0].error}"
        told = f"{counted(len(left_out), 'sample')} without a prediction left out of the groups, first {first}"
        print_notes((told,))
    # Rows on a terminal are their own progress, and a bar among them would tear them.
    bar = not quiet and sys.stderr.isatty() and (form == "table" or out is not None or not sys.stdout.isatty())
    failed: list[Row] = []
    unlike: list[tuple[str | int, tuple[str, ...]]] = []

    def watched() -> "Iterator[Row]":
        with progress_of(bar, title="Predicting", total=total) as report:
            for done, row in enumerate(answers, 1):
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
        print_notes(unlike_notes(unlike, total, source_name=columns.source_name))
    if failed:
        _tell_failed(failed, total, columns, inputs)
    if len(failed) == total:
        raise typer.Exit(1)
    if out is not None and not quiet:
        typer.echo(f"predictions: {out}", err=True)
    if strict and (failed or left_out or unlike):
        typer.echo(
            "onepeak: exit status 1 (--strict): a prediction is missing or an input is unlike the training.", err=True
        )
        raise typer.Exit(1)


def _tell_failed(failed: "list[Row]", total: int, columns: "OutputColumns", inputs: list[Path]) -> None:
    from onepeak.posterior.predictions import called
    from onepeak.serving.images import is_list

    typer.echo(f"onepeak: {len(failed):,} of {total:,} have no prediction; the error column says why.", err=True)
    for row in failed[:_MOST_FAILED]:
        typer.echo(f"  {called(row.source, columns.source_name)}: {row.error}", err=True)
    if len(failed) > _MOST_FAILED:
        typer.echo(f"  ... and {len(failed) - _MOST_FAILED:,} more", err=True)
    if columns.source_name == "path" and any(map(is_list, inputs)) and len(failed) == total:
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
        "`predicted_index`, `lower` and `upper` count the classes from 0; the classes themselves are "
        f"`predicted_class`, `lower_name` and `upper_name` (0 is {classes[0]})"
    ]


def _refuse(flags: dict[str, str | None], kind: str) -> None:
    for flag, value in flags.items():
        if value is not None:
            raise InputError(f"`{flag}` has no use for {kind}: leave it out.")


def _images(
    model: "Model", inputs: list[Path], *, root: str | None, path: str | None, keep: list[str], encoding: str | None
) -> "tuple[list[Path | Unnamed], PassthroughColumns | None]":
    from onepeak.data.tables.columns import PATH
    from onepeak.serving.images import images_and_columns

    columns = (model.description.path or PATH, PATH) if path is None else (path,)  # the training's, if the list has it
    images = images_and_columns(inputs, columns=columns, keep=keep, root=root, encoding=encoding)
    return images.paths, images.passthrough


def _rows(model: "Model", inputs: list[Path], *, keep: list[str], **reading: Any) -> "TableRows":
    from onepeak.serving.table_rows import rows_of_file

    assert model.description.table is not None
    if len(inputs) != 1:
        raise InputError(f"`inputs` must be one CSV or parquet file, as the model reads a table, got {len(inputs)}.")
    return rows_of_file(inputs[0], model.description.table, keep=keep, **reading)


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
    from onepeak.serving.output import write_csv, write_json_lines

    match form:
        case "json":
            write_json_lines(rows, file, columns)
        case "csv":
            write_csv(rows, file, columns)
        case "table":
            print_answers(rows, columns)


def print_answers(rows: "Iterable[Row]", columns: "OutputColumns") -> None:
    """Prints the first rows as a table, and how many more there are.

    Args:
        rows: All of them are taken.
        columns: What stands beside the answers.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from onepeak.serving.output import beside

    visible: list[tuple[list[Text], Row]] = []
    more = 0
    for row, cells in beside(rows, columns.passthrough):
        if len(visible) == _MOST_ROWS:
            more += 1
        else:
            visible.append(([Text("" if cell is None else str(cell)) for cell in (row.source, *cells)], row))
    unlike = any(row.unlike for _, row in visible)  # a column that is empty throughout is no use on a narrow screen
    fields = ("answer", "predicted", "p", "side order", "one peak")
    refer = any(row.refer for _, row in visible)
    last = (*(("action",) if columns.actions else ()), *(("unlike",) if unlike else ()), *(("refer",) if refer else ()))
    table = Table()
    for name in (columns.source_name, *columns.kept_names, *fields, *last):
        table.add_column(name, overflow="fold")  # a path must stay whole to be of use
    for known, row in visible:
        table.add_row(*known, *_cells(row, columns, unlike=unlike, refer=refer))
    console = Console()
    console.print(table)
    if more:
        console.print(f"... and {more:,} more rows (--csv, --json and --out give all).", highlight=False)


def _cells(row: "Row", columns: "OutputColumns", *, unlike: bool, refer: bool) -> "list[Text]":
    from rich.text import Text

    from onepeak.posterior.predictions import unlike_text

    if row.log_probs is None or row.predicted_index is None or row.soi is None:
        return [Text(f"error: {row.error}", style="red")]
    return [
        Text(str(row.headline), style="bold"),
        Text(str(row.predicted_class)),
        Text(f"{math.exp(row.log_probs[row.predicted_index]):.3f}"),
        Text(f"{row.soi:.3f}"),
        Text("no, paradox", style="red") if row.paradoxical else Text("yes" if row.unimodal else "no"),
        *([Text(str(columns.values(row)["action"]))] if columns.actions else []),
        *([Text(unlike_text(row.unlike) or "", style="red")] if unlike else []),
        *([Text(row.refer or "", style="red")] if refer else []),
    ]
