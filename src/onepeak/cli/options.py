"""Flags that mean the same in every command that has them."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onepeak._core.files import expanded
from onepeak.errors import InputError


def at_home(given: Any) -> Any:
    """Takes a path, text that may be one, or a list of them, and puts the home folder in place of ~.

    Shells do so themselves, but neither after `=`, as in `--out=~/model`, nor in quotes.
    """
    match given:
        case list() | tuple():
            return [at_home(each) for each in given]
        case Path():
            return expanded(given)
        case str() if given.startswith("~"):
            return str(expanded(given))
    return given


def _with_commas(order: str | None) -> str | None:
    """Refuses one name alone at once: after a space the shell ends the list, and the rest would be blamed instead."""
    if order is not None and not any(sign in order for sign in (",", "..", ".txt")):
        raise InputError(
            f"`--order` must name at least 2 classes with commas between them, lowest first, got {order!r}: "
            "write --order low,middle,high, in quotes where a name has spaces."
        )
    return at_home(order) if order is not None and order.strip().endswith(".txt") else order


Model = Annotated[Path, typer.Argument(callback=at_home, help="Model folder (the --out of onepeak train).")]
Data = Annotated[
    str, typer.Argument(help="Name of a known data set, a folder with one subfolder per class, or a CSV file.")
]
Root = Annotated[str | None, typer.Option("--root", help="Folder of the known data set or of the CSV's images.")]
Order = Annotated[
    str | None,
    typer.Option("--order", callback=_with_commas, help="Classes, lowest first: a,b,c or 0..69 or a .txt file."),
]
Label = Annotated[
    str | None, typer.Option("--label", help="Label column; or several, a,b, one of which each row fills.")
]
Group = Annotated[str | None, typer.Option("--group", help="Group column: person, patient, slide.")]
Images = Annotated[str | None, typer.Option("--path", help="Image column of a list (default: path).")]
Category = Annotated[
    list[str],
    typer.Option("--category", help="Table column to read as categories, even if it holds numbers. Repeatable."),
]
Drop = Annotated[list[str], typer.Option("--drop", help="Table column to ignore, such as an id. Repeatable.")]
Text = Annotated[str | None, typer.Option("--text", help="Column of texts, read by --backbone ENCODER.")]
Columns = Annotated[
    list[str], typer.Option("--columns", help="Table column to use as a feature beside --text. Repeatable.")
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", help="Decimal separator: pass , if 1,234 means 1.234."),
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of a CSV, such as cp1252 (default: UTF-8).")]
Missing = Annotated[
    list[str], typer.Option("--missing", help="Cell of a CSV that stands for a missing value, such as -. Repeatable.")
]
Splits = Annotated[int | None, typer.Option("--splits", help="Number of random splits.")]
Folds = Annotated[
    int | None, typer.Option("--folds", help="Number of folds to run in each split (kfold makes at least five).")
]
Epochs = Annotated[int | None, typer.Option("--epochs", help="Number of epochs (default: from the recipe).")]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Samples per batch (default: from the recipe).")]
LearningRate = Annotated[float | None, typer.Option("--lr", help="Learning rate (default: from the recipe).")]
Tune = Annotated[
    list[str],
    typer.Option("--tune", help="Values that every run chooses from in validation: lr=1e-4,3e-4,1e-3. Repeatable."),
]
Select = Annotated[str | None, typer.Option("--select", help="Validation metric that selects the epoch, or last.")]
Patience = Annotated[
    int | None,
    typer.Option("--patience", help="Stop after this many epochs without improvement (default: never)."),
]
ClassWeight = Annotated[
    str | None,
    typer.Option("--class-weight", help="balanced, lds, or one weight per class: 1,1,3."),
]
Bits = Annotated[int | None, typer.Option("--bits", help="Bits used in 16-bit images, such as 12 (default: 16).")]
Network = Annotated[list[str], typer.Option("--network", help="Network setting: kmax=0.2, hidden=64,32. Repeatable.")]
Backbone = Annotated[
    str | None,
    typer.Option(
        "--backbone", help="Backbone: a timm name, small, mlp, module:name of your own, or an encoder of texts."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights", callback=at_home, help="File of backbone weights, or pretrained (timm's own; needs a network)."
    ),
]
Normalise = Annotated[
    str | None,
    typer.Option(
        "--normalise",
        help="Pixels as the network reads them: paper (-1 to 1) or timm (mean and deviation of timm's weights; the "
        "default with --weights pretrained).",
    ),
]
Freeze = Annotated[
    bool,
    typer.Option(
        "--freeze", help="Keep the backbone's weights: one pass over the images, then every training takes seconds."
    ),
]
Pooling = Annotated[str | None, typer.Option("--pooling", help="Pooling: wildcat, average or max.")]
Protocol = Annotated[
    str,
    typer.Option(
        "--protocol",
        callback=at_home,
        help="Split protocol: auto, paper, code, authors, kfold, holdout, a file or a folder.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Device = Annotated[str, typer.Option("--device", help="Device: auto, cpu, cuda (or gpu), cuda:1 or mps.")]
Host = Annotated[str, typer.Option("--host", help="Address to listen on; needs --token unless it is this machine's.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="ONEPEAK_TOKEN", help="Secret that every request must send."),
]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Skip rows with bad cells and images that are missing or unreadable."),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        callback=at_home,
        help="Folder for decoded images (default: $ONEPEAK_CACHE or ~/.cache/onepeak).",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", help="Share of samples whose interval may miss the true class (default: 0.1)."),
]
Decide = Annotated[
    str | None,
    typer.Option(
        "--decide", help="Decision: mode, median, mean or cost of the calibrated posterior (default: the method's own)."
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost", help="Costs for --decide cost: a CSV with one row per true class and one column per predicted class."
    ),
]
Project = Annotated[bool, typer.Option("--project", help="Replace each posterior by the nearest one with one peak.")]
Raw = Annotated[bool, typer.Option("--raw", help="Leave posteriors uncalibrated.")]
Actions = Annotated[
    Path | None,
    typer.Option(
        "--actions", callback=at_home, help="What to do for each class: a CSV with the columns label and action."
    ),
]
Unsure = Annotated[
    Literal["highest", "lowest", "ask"],
    typer.Option("--unsure", help="Action where the interval holds several classes: of the highest, lowest, or ask."),
]
Against = Annotated[
    str | None,
    typer.Option("--against", help="Row to test the others against (default: the best)."),
]
Alone = Annotated[
    str | None,
    typer.Option(
        "--alone",
        help="Row to compare with --against (or ce) in a separate test; choose it before you see results "
        "(default: elb).",
    ),
]
Logger = Annotated[
    str,
    typer.Option(
        "--logger", help="Logger: tensorboard, csv, wandb, mlflow (or wandb:PROJECT/RUN), none, or a Lightning logger."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_of(pairs: list[str], *, flag: str = "--set") -> dict[str, object]:
    """Turns `name=value` flags into settings: numbers, true and false are read as such, all else is text.

    Example:
        >>> settings_of(["t=1.5", "hidden=64,32", "kind=log"])
        {'t': 1.5, 'hidden': (64, 32), 'kind': 'log'}
    """
    from onepeak.experiment.plan import setting_value

    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"`{flag}` must be name=value, got {pair!r}.")
        found[name] = setting_value(text)
    return found


def lists_of(pairs: list[str]) -> dict[str, object]:
    """Turns `name=value,value` flags into lists of values.

    Example:
        >>> lists_of(["lr=1e-4,3e-4", "epochs=5"])
        {'lr': [0.0001, 0.0003], 'epochs': [5]}
    """
    from onepeak.experiment.plan import setting_value

    texts = (pair.partition("=") for pair in pairs)
    return {name: [setting_value(value) for value in values.split(",")] for name, _, values in texts}


def recipe_changes(
    *,
    epochs: int | None,
    batch_size: int | None,
    lr: float | None,
    select: str | None,
    patience: int | None,
    class_weight: str | None,
    bits: int | None,
) -> dict[str, object]:
    """What the flags say in place of the recipe; of weights, a name or one number per class.

    Example:
        >>> others = dict.fromkeys(("batch_size", "lr", "select", "bits"))
        >>> recipe_changes(epochs=5, patience=2, class_weight="1,1,2.5", **others)
        {'epochs': 5, 'patience': 2, 'class_weight': (1, 1, 2.5)}
    """
    from onepeak.experiment.plan import setting_value

    weights = None if class_weight is None else setting_value(class_weight)
    numbers = {"epochs": epochs, "batch_size": batch_size, "lr": lr, "patience": patience, "bits": bits}
    return given({**numbers, "select": select, "class_weight": weights})


def number_or_auto(name: str, value: str) -> int | Literal["auto"]:
    """A whole number, or "auto"."""
    if value == "auto":
        return "auto"
    if not value.isdecimal() or int(value) < 1:
        raise InputError(f"`--{name}` must be auto or an integer >= 1, got {value!r}.")
    return int(value)


def network_settings(pairs: list[str], *, backbone: str | None, pooling: str | None) -> dict[str, object]:
    """What `--network name=value` and the flags of their own say; one width of a hidden layer is a list of one.

    Example:
        >>> network_settings(["hidden=64", "dropout=0.1"], backbone="mlp", pooling=None)
        {'hidden': (64,), 'dropout': 0.1, 'backbone': 'mlp'}
    """
    found = settings_of(pairs, flag="--network")
    if isinstance(found.get("hidden"), int):
        found["hidden"] = (found["hidden"],)
    return found | given({"backbone": backbone, "pooling": pooling})


def given(flags: dict[str, object]) -> dict[str, object]:
    """The flags that were given."""
    return {name: value for name, value in flags.items() if value is not None}


def command_line() -> list[str]:
    """The command with its arguments: `onepeak`, or a program of the user's own that adds methods and calls `main`.

    Where it lies on this machine is left out, if it works without.

    Example:
        >>> command_line()[0] in ("onepeak", "python")
        True
    """
    program = Path(sys.argv[0])
    if program.name == "__main__.py" and program.parent.name != "onepeak":
        command = ["python", "-m", program.parent.name]
    elif program.suffix == ".py" and program.name != "__main__.py":
        here = program.is_relative_to(Path.cwd())
        command = ["python", str(program.relative_to(Path.cwd()) if here else program)]
    else:
        command = ["onepeak"]
    return [*command, *sys.argv[1:]]
