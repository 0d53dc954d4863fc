"""Flags that mean the same in every command that has them, in the panels that `--help` shows."""

import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from onepeak._core.files import expanded
from onepeak.errors import InputError

if TYPE_CHECKING:
    from onepeak.experiment.plan import Experiment, MethodEntry

Panel: TypeAlias = Literal["Data", "Training", "Network", "Prediction", "Server", "Compute", "Output"]
"""In their order on the screen; within each, rare flags come last."""
Flags: TypeAlias = dict[str, Any]
"""Some flags by the names of their arguments: each is its type, annotated as typer reads it."""


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


def _order(order: str | None) -> str | None:
    """Refuses one name alone at once: after a space the shell ends the list, and the rest would be blamed instead."""
    if order is not None and not any(sign in order for sign in (",", "..", ".txt")):
        raise InputError(
            f"`--order` must name at least 2 classes with commas between them, lowest first, got {order!r}: "
            "write --order low,middle,high, in quotes where a name has spaces."
        )
    return at_home(order) if order is not None and order.strip().endswith(".txt") else order


def _class_weight(weights: str | None) -> object:
    from onepeak.experiment.plan import setting_value

    return None if weights is None else setting_value(weights)


def flag(panel: Panel, name: str, text: str, **more: Any) -> Any:
    """A flag of one command."""
    return typer.Option(name, help=text, rich_help_panel=panel, **more)


def flags(panel: Panel, **texts: Any) -> dict[str, Any]:
    """Flags by the names of their arguments: each has a text, before it its type unless that is text, and options."""
    found = {}
    for name, about in texts.items():
        kind, text, *more = (str, about) if isinstance(about, str) else about
        option = flag(panel, f"--{name.replace('_', '-')}", text, **(more[0] if more else {}))
        found[name] = Annotated[kind, option]
    return found


LABELLED: Flags = flags(
    "Data",
    root="Folder of the known data set or of the CSV's images.",
    order=(str, "Classes, lowest first: a,b,c or 0..69 or a .txt file.", {"callback": _order}),
    label="Label column, or several (a,b) if each row fills one of them.",
    raters="Columns of several raters' labels, instead of --label: a,b or rater_*.",
    label_probs="Columns of class probabilities or votes, lowest first, instead of --label: p_0,p_1 or p_*.",
    group="Group column: person, patient, slide.",
    path="Image column of a list (default: path).",
    decimal="Decimal separator: pass , if 1,234 means 1.234.",
    encoding="Encoding of a CSV, such as cp1252 (default: UTF-8).",
    missing=(list[str], "Value that means missing in a CSV, such as -."),
)
"""Where data with labels come from: fields of `DataSource`."""
SOURCE: Flags = LABELLED | flags(
    "Data",
    text="Column of texts, read by --backbone ENCODER.",
    columns=(list[str], "Table column to use as a feature beside --text."),
    category=(list[str], "Table column of categories, even if it holds numbers."),
    drop=(list[str], "Table column to ignore, such as an id."),
    skip_bad=(bool, "Skip rows with bad cells and images that are missing or unreadable."),
)
"""The same of data to train on."""
TRAINED: Flags = SOURCE | flags("Data", subgroup=(list[str], "Column to break figures down by, such as sex."))
"""The same of data to train and to measure on."""
PLAN: Flags = (
    flags(
        "Data",
        protocol=(
            str,
            "Split protocol: auto (the default), paper, code, authors, kfold, holdout, a file or a folder.",
            {"callback": at_home},
        ),
        allow_leak=(bool, "Train even if samples leak between parts."),
    )
    | flags("Training", seed=(int, "Random seed (default: 0)."))
    | flags("Output", licence="Licences of the data and the weights, for the model's card.")
    | flags(
        "Network",
        weights=(str, "File of backbone weights, or pretrained (downloads timm's own).", {"callback": at_home}),
        normalise="How pixels are scaled: paper (-1 to 1) or timm (mean and deviation of timm's weights; "
        "the default with --weights pretrained).",
        freeze=(bool, "Keep the backbone's weights: after one pass over the images, each training takes seconds."),
    )
    | flags("Compute", precision="Precision: fp32 (the default), bf16 or fp16.")
)
"""Fields of `Experiment`."""
RECIPE: Flags = flags(
    "Training",
    epochs=(int, "Number of epochs (default: from the recipe)."),
    batch_size=(int, "Samples per batch (default: from the recipe)."),
    lr=(float, "Learning rate (default: from the recipe)."),
    encoder_lr=(float, "Train the encoder of --text too, at this learning rate, such as 2e-5 (default: frozen)."),
    select="Validation metric that selects the epoch, or last.",
    patience=(int, "Stop after this many epochs without improvement (default: never)."),
    class_weight=(str, "balanced, lds, or one weight per class: 1,1,3.", {"callback": _class_weight}),
) | flags("Data", bits=(int, "Bits used in 16-bit images, such as 12 (default: 16)."))
"""What may replace settings of the recipe."""
NETWORK: Flags = flags(
    "Network",
    backbone="Backbone: a timm name, small, mlp, module:name of your own, or an encoder of texts.",
    pooling="Pooling: wildcat, average or max.",
    network=(list[str], "Network setting: kmax=0.2, hidden=64,32."),
)
"""Settings of the network; see `network_settings`."""
POSTERIOR: Flags = flags(
    "Prediction",
    alpha=(float, "Share of samples whose interval may miss the true class (default: 0.1)."),
    decide="Decision: mode, median, mean, qwk or cost of the calibrated posterior (default: the method's own).",
    cost="Costs for --decide cost: a CSV with one row per true class and one column per predicted class.",
    project=(bool, "Replace each posterior by the nearest one with one peak."),
)
"""How posteriors are read: arguments of `Model.posterior_options`."""
RAW: Flags = flags("Prediction", raw=(bool, "Do not calibrate posteriors."))
FLAGS: Flags = {
    "model": Annotated[Path, typer.Argument(help="Model folder (the --out of onepeak train).")],
    "data": Annotated[
        str, typer.Argument(help="Name of a known data set, a folder with one subfolder per class, or a CSV file.")
    ],
    **TRAINED,
    **PLAN,
    **NETWORK,
    **flags(
        "Data",
        splits=(int, "Number of random splits."),
        folds=(int, "Number of folds to run in each split (kfold makes at least five)."),
        part="test or valid: only the samples that the model's training held out.",
    ),
    **flags(
        "Prediction",
        combine=(
            Literal["worst", "mean", "median"],
            "One prediction per group: the worst, mean or median of its samples.",
        ),
        actions=(Path, "What to do for each class: a CSV with the columns label and action."),
        unsure=(
            Literal["highest", "lowest", "ask"],
            "Action where the interval holds several classes: that of the highest or lowest, or ask a person.",
        ),
    ),
    **flags(
        "Server",
        host="Address to listen on; needs --token unless it is this machine's.",
        port=(int, "Port to listen on; 0 picks a free one.", {"min": 0, "max": 65535}),
        token=(str, "Secret that every request must send.", {"envvar": "ONEPEAK_TOKEN"}),
        open=(bool, "Open the first page in a browser."),
    ),
    **flags(
        "Compute",
        device="Device: auto, cpu, cuda (or gpu), cuda:1 or mps.",
        workers=(int, "Parallel runs (default: as many as fit)."),
        cache=(Path, "Folder for decoded images (default: $ONEPEAK_CACHE or ~/.cache/onepeak)."),
        batch_size=(int, "Samples per batch (default: 32 images or 4096 rows).", {"min": 1}),
    ),
    **flags(
        "Output",
        against="Row to test the others against (default: the best).",
        alone="Row to compare with --against (or ce) in a separate test; choose it before you see results (default: "
        "elb).",
        logger="Logger: tensorboard, csv, wandb, mlflow (or wandb:PROJECT/RUN), none, or a Lightning logger.",
        quiet=(bool, "Print only results."),
        json=(bool, "Print JSON."),
    ),
}
"""The flags that an argument of a command has by its name, unless it has one of its own."""


def only(*names: str) -> Flags:
    """Some flags of `FLAGS` as a group."""
    return {name: FLAGS[name] for name in names}


def with_flags(**groups: Flags) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives the arguments of a command their flags.

    An argument with the name of a group is a dict of those of its flags that were given. Any other has the flag in its
    annotation, or else that of `FLAGS` by its name.

    Example:
        >>> @with_flags(source={"root": LABELLED["root"]})
        ... def show(data: str, source: dict[str, Any], quiet: bool = False) -> None: ...
        >>> signature(show).parameters.keys()
        odict_keys(['data', 'root', 'quiet'])
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**arguments: Any) -> None:
            sets = {group: _given({name: arguments.pop(name) for name in flags}) for group, flags in groups.items()}
            command(**arguments, **sets)

        hints, parameters = get_type_hints(command, include_extras=True), []
        for name, each in signature(command).parameters.items():
            own = hints[name] if get_origin(hints[name]) is Annotated else FLAGS.get(name.removeprefix("as_"))
            for flag, kind in groups.get(name, {name: own}).items():
                default = each.default if name not in groups else {bool: False, list[str]: []}.get(get_args(kind)[0])
                parameters.append(Parameter(flag, Parameter.KEYWORD_ONLY, default=default, annotation=_finished(kind)))
        del call.__wrapped__  # typer would read the flags from there
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    return add


def _finished(kind: Any) -> Any:
    """A flag with what all flags of its type have: how its value is shown, and the home folder for ~ in a path."""
    base, info = get_args(kind)
    given, info = (base, *get_args(base)), copy(info)
    if Path in given:
        info.callback = at_home
    if isinstance(info, typer.models.OptionInfo):
        if base == list[str]:
            info.help = f"{info.help} Repeatable."
        shown = [f"<{one.__name__}>" for one in (str, int, float) if one in given]
        info.metavar = "" if bool in given else shown[0] if shown else info.metavar
    return Annotated[base, info]


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    found = {name: tuple(value) if isinstance(value, list) else value for name, value in flags.items()}
    return {name: value for name, value in found.items() if value is not None and value is not False and value != ()}


class Command(TyperCommand):
    """A command whose help has its flags by panel, and that names everything that is missing at once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer does; it would name the first of several missing arguments alone."""
        given = self.make_parser(ctx).parse_args(args=list(args))[0]
        missing = [each for each in self.get_params(ctx) if each.required and not given.get(each.name or "")]
        if len(missing) > 1 and "--help" not in args:
            names = (each.opts[0] if each.opts[0].startswith("-") else str(each.name).upper() for each in missing)
            ctx.fail(f"Missing: {', '.join(names)}.")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments first, then the flags panel by panel; --help is the last."""
        found = super().get_params(ctx)
        for each in found:
            if "--help" in each.opts:
                each.rich_help_panel, each.metavar = "Output", ""  # type: ignore[attr-defined]
        order: dict[Any, int] = {panel: number for number, panel in enumerate(get_args(Panel))}
        return sorted(found, key=lambda each: order.get(getattr(each, "rich_help_panel", None), -1))


def refuse(flags: Mapping[str, object], where: str, fix: str = "leave it out") -> None:
    """Refuses flags that do nothing where they were given."""
    for name, value in flags.items():
        if value:
            raise InputError(f"`--{name.replace('_', '-')}` does nothing {where}: {fix}.")


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


def network_settings(*, network: tuple[str, ...] = (), **named: str) -> dict[str, object]:
    """What the flags of `NETWORK` say; one width of a hidden layer is a list of one.

    Example:
        >>> network_settings(network=("hidden=64", "dropout=0.1"), backbone="mlp")
        {'hidden': (64,), 'dropout': 0.1, 'backbone': 'mlp'}
    """
    found = settings_of(list(network), flag="--network")
    if isinstance(found.get("hidden"), int):
        found["hidden"] = (found["hidden"],)
    return found | named


def changed(
    known: "Experiment",
    *,
    source: dict[str, Any],
    plan: dict[str, Any],
    network: dict[str, Any],
    recipe_changes: dict[str, Any],
    recipe: str | None = None,
) -> "Experiment":
    """An experiment with what the groups of flags say instead; `recipe` names a preset or a file."""
    from onepeak.experiment.plan import read_recipe

    settings, recipe_source = (known.recipe, known.recipe_source) if recipe is None else read_recipe(recipe)
    return replace(
        known,
        recipe=settings | recipe_changes,
        recipe_source=recipe_source and recipe_source.changed_by(recipe_changes),
        network=known.network | network_settings(**network),
        source=replace(known.source, **source),
        **plan,
    )


def experiment_on(data: str, methods: "tuple[MethodEntry, ...]", **flags: Any) -> "Experiment":
    """The experiment on data that the groups of flags say, as `changed` takes them."""
    from onepeak.data.source import DataSource
    from onepeak.experiment.plan import Experiment, name_for

    return changed(Experiment(name=name_for(data), source=DataSource(data), methods=methods), **flags)


def command_line() -> list[str]:
    """The command with its arguments: `onepeak`, or a script of the user's own that adds methods and calls `main`.

    Example:
        >>> command_line()[0] in ("onepeak", "python")
        True
    """
    program = Path(sys.argv[0])
    own = program.suffix == ".py" and program.name != "__main__.py"
    return [*(("python", str(program)) if own else ("onepeak",)), *sys.argv[1:]]
