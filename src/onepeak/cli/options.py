"""Flags that mean the same in every command that has them."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onepeak._home import expanded
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


Model = Annotated[Path, typer.Argument(callback=at_home, help="A model's folder, as onepeak train --out makes it.")]
Data = Annotated[str, typer.Argument(help="A known data set, a folder with one folder per class, or a CSV.")]
Root = Annotated[str | None, typer.Option("--root", help="Where the known data set, or the CSV's pictures, lie.")]
Order = Annotated[
    str | None,
    typer.Option("--order", callback=_with_commas, help="The classes, lowest first: a,b,c or 0..69 or a .txt file."),
]
Label = Annotated[str | None, typer.Option("--label", help="The column of labels in a table.")]
Group = Annotated[str | None, typer.Option("--group", help="The column of groups: person, patient, slide.")]
Pictures = Annotated[str | None, typer.Option("--path", help="The column of pictures in a list, if not path.")]
Category = Annotated[
    list[str], typer.Option("--category", help="A column of names in a table, even if in digits. Repeatable.")
]
Drop = Annotated[list[str], typer.Option("--drop", help="A column of a table to leave out, such as an id. Repeatable.")]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", help="A comma: in the numbers of a CSV it is decimal, though 1,234 might be thousands."),
]
Splits = Annotated[
    int | None, typer.Option("--splits", help="How often the data are split anew, into all folds each time.")
]
Folds = Annotated[
    int | None, typer.Option("--folds", help="Folds of each split that are run; kfold makes five or more.")
]
Epochs = Annotated[int | None, typer.Option("--epochs", help="Instead of the recipe's.")]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Instead of the recipe's.")]
LearningRate = Annotated[float | None, typer.Option("--lr", help="Learning rate instead of the recipe's.")]
Select = Annotated[str | None, typer.Option("--select", help="Validation metric that picks the epoch; or last.")]
Patience = Annotated[
    int | None,
    typer.Option("--patience", help="Stop after so many epochs without a better --select; all are run if left out."),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight", help="balanced: rare classes count as much as others; or one number per class: 1,1,3."
    ),
]
Bits = Annotated[
    int | None, typer.Option("--bits", help="Bits that 16-bit pictures hold, such as 12; all 16 if left out.")
]
Network = Annotated[
    list[str], typer.Option("--network", help="A setting of the network: kmax=0.2, hidden=64,32. Repeatable.")
]
Backbone = Annotated[str | None, typer.Option("--backbone", help="A timm name, small, mlp, or your own: module:name.")]
Pooling = Annotated[str | None, typer.Option("--pooling", help="wildcat, average or max.")]
Protocol = Annotated[
    str,
    typer.Option("--protocol", callback=at_home, help="How to split: auto, paper, code, kfold, holdout or a file."),
]
Seed = Annotated[int, typer.Option("--seed", help="Decides every random choice.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda (or gpu), cuda:1 or mps.")]
Host = Annotated[str, typer.Option("--host", help="The address to listen on; any but this machine's needs a token.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 for any that is free.")]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="ONEPEAK_TOKEN", help="The secret that every request must bring."),
]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Leave out rows with bad cells, and pictures that are missing or cannot be read."),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        callback=at_home,
        help="Folder for decoded pictures; $ONEPEAK_CACHE or ~/.cache/onepeak if left out.",
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", help="Intervals miss the true class in this share of items; 0.1 if left out."),
]
Decide = Annotated[
    str | None,
    typer.Option(
        "--decide", help="mode, median, mean or cost, of the calibrated posterior; else the method's own way."
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost", help="For --decide cost: a CSV of costs, one row per true class, one column per class decided on."
    ),
]
Project = Annotated[bool, typer.Option("--project", help="Take the nearest posterior with one peak.")]
Raw = Annotated[bool, typer.Option("--raw", help="Posteriors as the network gives them, not calibrated.")]
Actions = Annotated[
    Path | None,
    typer.Option(
        "--actions", callback=at_home, help="A CSV with the columns label and action: what to do for a class."
    ),
]
Against = Annotated[
    str | None,
    typer.Option("--against", help="The row of the table that others are tested against; the best if left out."),
]
Alone = Annotated[
    str | None,
    typer.Option(
        "--alone",
        help="The row that is compared with --against (or ce) in one test by itself: name it before you look. elb if "
        "left out.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print results only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def settings_of(pairs: list[str], *, flag: str = "--set") -> dict[str, object]:
    """Turns `name=value` flags into settings: numbers, true and false are read as such, all else is text.

    Args:
        pairs: What the user typed.
        flag: Behind which flag, for messages.

    Example:
        >>> settings_of(["t=1.5", "hidden=64,32", "kind=log"])
        {'t': 1.5, 'hidden': (64, 32), 'kind': 'log'}
    """
    from onepeak.experiment.entries import setting_value

    found: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"`{flag}` must be name=value, got {pair!r}.")
        found[name] = setting_value(text)
    return found


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
    from onepeak.experiment.entries import setting_value

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


@contextlib.contextmanager
def named_as_flags(names: Iterable[str]) -> Iterator[None]:
    """Lets messages on settings of the recipe that came by flags name the flags.

    Args:
        names: The settings that flags gave.

    Example:
        >>> with named_as_flags(["batch_size"]):
        ...     raise InputError("recipe.batch_size: `batch_size` must be an integer >= 1, got 0.")
        Traceback (most recent call last):
        onepeak.errors.InputError: `--batch-size` must be an integer >= 1, got 0.
    """
    try:
        yield
    except InputError as error:
        message = "\n".join(_with_flags(line, names) for line in str(error).split("\n"))
        if message == str(error):
            raise
        raise InputError(message) from error


def _with_flags(line: str, names: Iterable[str]) -> str:
    """A line of a message with flags in place of keys; what a method has for itself was given by no flag."""
    if re.match(r"(.*?: )?methods\.", line):
        return line
    for name in names:
        line = re.sub(rf"^(.*?: )??(recipe\.)?{name}: ", "", line)
        line = line.replace(f"`{name}`", f"`--{name.replace('_', '-')}`")
    return line


def given(flags: dict[str, object]) -> dict[str, object]:
    """The flags that were given."""
    return {name: value for name, value in flags.items() if value is not None}
