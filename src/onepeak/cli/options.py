"""Flags that mean the same in every command that has them, in the panels that `--help` shows."""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import typer
from typer.core import TyperCommand

from onepeak._core.files import expanded
from onepeak.errors import InputError

Panel: TypeAlias = Literal["Data", "Training", "Network", "Prediction", "Server", "Compute", "Output"]
PANELS: tuple[Panel, ...] = ("Data", "Training", "Network", "Prediction", "Server", "Compute", "Output")
"""In their order on the screen; within each, rare flags come last."""


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


def flag(panel: Panel, name: str, text: str, **more: Any) -> Any:
    """A flag with a value."""
    return typer.Option(name, help=text, rich_help_panel=panel, **more)


def path_flag(panel: Panel, name: str, text: str) -> Any:
    """A flag whose value may begin with ~."""
    return flag(panel, name, text, callback=at_home)


def repeated(panel: Panel, name: str, text: str) -> Any:
    """A flag that may be given several times."""
    return flag(panel, name, f"{text} Repeatable.", metavar="<str>")


def switch(panel: Panel, name: str, text: str) -> Any:
    """A flag without a value."""
    return flag(panel, name, text, metavar="")


class Command(TyperCommand):
    """A command whose help has its flags by panel, and that names everything that is missing at once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments first, then the flags panel by panel; --help is the last."""
        found = super().get_params(ctx)
        for each in found:
            if "--help" in each.opts:
                each.rich_help_panel, each.metavar = "Output", ""  # type: ignore[attr-defined]
        order: dict[Any, int] = {panel: place for place, panel in enumerate(PANELS)}
        return sorted(found, key=lambda each: order.get(getattr(each, "rich_help_panel", None), -1))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer does; it would name the first of several missing arguments alone."""
        given = self.make_parser(ctx).parse_args(args=list(args))[0]
        missing = [each for each in self.get_params(ctx) if each.required and not given.get(each.name or "")]
        if len(missing) > 1 and "--help" not in args:
            names = (each.opts[0] if each.opts[0].startswith("-") else str(each.name).upper() for each in missing)
            ctx.fail(f"Missing: {', '.join(names)}.")
        return super().parse_args(ctx, args)


Flags: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Some flags of a command: each with its type, as typer reads it, and its default."""


def with_flags(**groups: Flags) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command groups of flags: for each it is called with a dict, by this name, of those that were given.

    Example:
        >>> @with_flags(source={"root": (Root, None)})
        ... def show(data: Data, source: dict[str, Any]) -> None: ...
        >>> signature(show).parameters.keys()
        odict_keys(['data', 'root'])
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        def own_flags(flags: Flags, arguments: dict[str, Any]) -> dict[str, Any]:
            own = {name: arguments.pop(name) for name in flags}
            found = {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}
            return {
                name: value for name, value in found.items() if value is not None and value is not False and value != ()
            }

        @wraps(command)
        def call(**arguments: Any) -> None:
            sets = {group: own_flags(flags, arguments) for group, flags in groups.items()}
            command(**arguments, **sets)

        hints, parameters = get_type_hints(command, include_extras=True), []
        for name, each in signature(command).parameters.items():
            own = groups.get(name, {name: (hints[name], each.default)})
            parameters += [
                Parameter(flag, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for flag, (kind, default) in own.items()
            ]
        del call.__wrapped__  # typer would read the flags from there
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    return add


Model = Annotated[Path, typer.Argument(callback=at_home, help="Model folder (the --out of onepeak train).")]
Data = Annotated[
    str, typer.Argument(help="Name of a known data set, a folder with one subfolder per class, or a CSV file.")
]
Root = Annotated[str | None, flag("Data", "--root", "Folder of the known data set or of the CSV's images.")]
Order = Annotated[
    str | None, flag("Data", "--order", "Classes, lowest first: a,b,c or 0..69 or a .txt file.", callback=_with_commas)
]
Label = Annotated[str | None, flag("Data", "--label", "Label column; or several, a,b, one of which each row fills.")]
Group = Annotated[str | None, flag("Data", "--group", "Group column: person, patient, slide.")]
Images = Annotated[str | None, flag("Data", "--path", "Image column of a list (default: path).")]
Category = Annotated[list[str], repeated("Data", "--category", "Table column of categories, even if it holds numbers.")]
Drop = Annotated[list[str], repeated("Data", "--drop", "Table column to ignore, such as an id.")]
Decimal = Annotated[str | None, flag("Data", "--decimal", "Decimal separator: pass , if 1,234 means 1.234.")]
SkipBad = Annotated[
    bool, switch("Data", "--skip-bad", "Skip rows with bad cells and images that are missing or unreadable.")
]
Encoding = Annotated[str | None, flag("Data", "--encoding", "Encoding of a CSV, such as cp1252 (default: UTF-8).")]
Missing = Annotated[
    list[str], repeated("Data", "--missing", "Cell of a CSV that stands for a missing value, such as -.")
]
LABELLED: Flags = {
    "root": (Root, None), "order": (Order, None), "label": (Label, None), "group": (Group, None),
    "path": (Images, None), "decimal": (Decimal, None), "encoding": (Encoding, None), "missing": (Missing, []),
}  # fmt: skip
"""Where data with labels come from: fields of `DataSource`."""
Text = Annotated[str | None, flag("Data", "--text", "Column of texts, read by --backbone ENCODER.")]
Columns = Annotated[list[str], repeated("Data", "--columns", "Table column to use as a feature beside --text.")]
SOURCE: Flags = {
    **LABELLED, "text": (Text, None), "columns": (Columns, []), "category": (Category, []), "drop": (Drop, []),
    "skip_bad": (SkipBad, False),
}  # fmt: skip
"""The same of data to train on."""

PROTOCOLS = "Split protocol: auto, paper, code, authors, kfold, holdout, a file or a folder."
Protocol = Annotated[str, path_flag("Data", "--protocol", PROTOCOLS)]
Splits = Annotated[int | None, flag("Data", "--splits", "Number of random splits.")]
Folds = Annotated[
    int | None, flag("Data", "--folds", "Number of folds to run in each split (kfold makes at least five).")
]
AllowLeak = Annotated[bool, switch("Data", "--allow-leak", "Train even if samples leak between parts.")]
Epochs = Annotated[int | None, flag("Training", "--epochs", "Number of epochs (default: from the recipe).")]
BatchSize = Annotated[int | None, flag("Training", "--batch-size", "Samples per batch (default: from the recipe).")]
LearningRate = Annotated[float | None, flag("Training", "--lr", "Learning rate (default: from the recipe).")]
Tune = Annotated[
    list[str],
    repeated("Training", "--tune", "Values that every run chooses from in validation: lr=1e-4,3e-4,1e-3."),
]
Select = Annotated[str | None, flag("Training", "--select", "Validation metric that selects the epoch, or last.")]
Patience = Annotated[
    int | None, flag("Training", "--patience", "Stop after this many epochs without improvement (default: never).")
]
ClassWeight = Annotated[
    str | None, flag("Training", "--class-weight", "balanced, lds, or one weight per class: 1,1,3.")
]
Bits = Annotated[int | None, flag("Data", "--bits", "Bits used in 16-bit images, such as 12 (default: 16).")]
RECIPE: Flags = {
    "epochs": (Epochs, None), "batch_size": (BatchSize, None), "lr": (LearningRate, None), "select": (Select, None),
    "patience": (Patience, None), "class_weight": (ClassWeight, None), "bits": (Bits, None),
}  # fmt: skip
"""What may replace settings of the recipe."""

Backbone = Annotated[
    str | None,
    flag(
        "Network", "--backbone", "Backbone: a timm name, small, mlp, module:name of your own, or an encoder of texts."
    ),
]
Weights = Annotated[
    str | None,
    path_flag("Network", "--weights", "File of backbone weights, or pretrained (timm's own; needs a network)."),
]
Normalise = Annotated[
    str | None,
    flag(
        "Network",
        "--normalise",
        "Pixels as the network reads them: paper (-1 to 1) or timm (mean and deviation of timm's weights; the default "
        "with --weights pretrained).",
    ),
]
Freeze = Annotated[
    bool,
    switch(
        "Network",
        "--freeze",
        "Keep the backbone's weights: one pass over the images, then every training takes seconds.",
    ),
]
Pooling = Annotated[str | None, flag("Network", "--pooling", "Pooling: wildcat, average or max.")]
Network = Annotated[list[str], repeated("Network", "--network", "Network setting: kmax=0.2, hidden=64,32.")]
Seed = Annotated[int, flag("Training", "--seed", "Random seed.")]
Device = Annotated[str, flag("Compute", "--device", "Device: auto, cpu, cuda (or gpu), cuda:1 or mps.")]
Workers = Annotated[int | None, flag("Compute", "--workers", "Parallel runs (default: as many as fit).")]
Cache = Annotated[
    Path | None,
    path_flag("Compute", "--cache", "Folder for decoded images (default: $ONEPEAK_CACHE or ~/.cache/onepeak)."),
]
PredictBatch = Annotated[
    int | None, flag("Compute", "--batch-size", "Samples per batch (default: 32 images or 4096 rows).", min=1)
]
Host = Annotated[str, flag("Server", "--host", "Address to listen on; needs --token unless it is this machine's.")]
Port = Annotated[int, flag("Server", "--port", "Port to listen on; 0 picks a free one.", min=0, max=65535)]
Token = Annotated[str | None, flag("Server", "--token", "Secret that every request must send.", envvar="ONEPEAK_TOKEN")]
Open = Annotated[bool, switch("Server", "--open", "Open the first page in a browser.")]
Alpha = Annotated[
    float | None,
    flag("Prediction", "--alpha", "Share of samples whose interval may miss the true class (default: 0.1)."),
]
Decide = Annotated[
    str | None,
    flag(
        "Prediction",
        "--decide",
        "Decision: mode, median, mean or cost of the calibrated posterior (default: the method's own).",
    ),
]
Cost = Annotated[
    str | None,
    flag(
        "Prediction",
        "--cost",
        "Costs for --decide cost: a CSV with one row per true class and one column per predicted class.",
    ),
]
Project = Annotated[bool, switch("Prediction", "--project", "Replace each posterior by the nearest one with one peak.")]
Raw = Annotated[bool, switch("Prediction", "--raw", "Leave posteriors uncalibrated.")]
Actions = Annotated[
    Path | None,
    path_flag("Prediction", "--actions", "What to do for each class: a CSV with the columns label and action."),
]
Unsure = Annotated[
    Literal["highest", "lowest", "ask"],
    flag("Prediction", "--unsure", "Action where the interval holds several classes: of the highest, lowest, or ask."),
]
Against = Annotated[str | None, flag("Output", "--against", "Row to test the others against (default: the best).")]
Alone = Annotated[
    str | None,
    flag(
        "Output",
        "--alone",
        "Row to compare with --against (or ce) in a separate test; choose it before you see results (default: elb).",
    ),
]
Logger = Annotated[
    str,
    flag(
        "Output",
        "--logger",
        "Logger: tensorboard, csv, wandb, mlflow (or wandb:PROJECT/RUN), none, or a Lightning logger.",
    ),
]
Quiet = Annotated[bool, switch("Output", "--quiet", "Print only results.")]
AsJson = Annotated[bool, switch("Output", "--json", "Print JSON.")]


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


def recipe_changes(**flags: object) -> dict[str, object]:
    """What the flags of `RECIPE` say in its place; of weights, a name or one number per class.

    Example:
        >>> recipe_changes(epochs=5, lr=None, class_weight="1,1,2.5")
        {'epochs': 5, 'class_weight': (1, 1, 2.5)}
    """
    from onepeak.experiment.plan import setting_value

    found = given(flags)
    return found | {name: setting_value(str(found[name])) for name in ("class_weight",) if name in found}


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
