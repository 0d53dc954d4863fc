"""The folder of an experiment: `config.toml` records its settings, so that another experiment is refused."""

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from onepeak._file_lock import locked
from onepeak._home import expanded
from onepeak._one_step import write_text_in_one_step
from onepeak.data.datasets import DATASETS
from onepeak.data.splits import PARTS, Split
from onepeak.errors import InputError
from onepeak.experiment.config_file import CONFIG, RECORD
from onepeak.experiment.opened import Opened
from onepeak.experiment.plan import OPENED_BY, Experiment
from onepeak.experiment.plan_file import plan_content
from onepeak.networks.own_backbone import source_digest
from onepeak.training.file_names import RESULT, RUNS
from onepeak.training.out_folder import check_out, make_out, refuse_others
from onepeak.training.recipe_file import BASE
from onepeak.training.run import versions
from onepeak.training.toml_file import read_toml, toml_text

_LOCK = ".lock"
_HEAD = "# Written by `onepeak compare`; pass it this file to repeat the experiment.\n"


def begin(folder: Path, opened: Opened, *, command: str = "") -> None:
    """Writes the settings to the folder; if they exist, adds new methods, splits and commands to them.

    Args:
        folder: The experiment's folder, created if missing.
        opened: The experiment with its data.
        command: The command line, for the record.

    Raises:
        InputError: The folder holds another experiment, or something else; the message lists the differences.
    """
    check_place(folder)
    make_out(folder)
    with locked(folder / _LOCK):
        path = folder / CONFIG
        content = config_content(opened, command=command)
        if path.exists():
            before = read_toml(path, wanted="`--out` must be a folder of onepeak compare")
            if differences := list(_differences(before, content)):
                raise InputError(
                    f"`--out` {folder} holds another experiment: {'; '.join(differences)}. "
                    "Give another folder, or the same settings to continue this one.",
                    page="scale",
                )
            content = _grown(before, content)
            if toml_text(content) == toml_text(before):
                return
        write_text_in_one_step(path, _HEAD + toml_text(content))


def check_place(folder: Path) -> None:
    """Refuses an existing folder without an experiment or runs of one; called before any image is read."""
    check_out(folder)
    has_runs = any((folder / RUNS).glob(f"*/*/{RESULT}"))  # runs may have been copied there without config.toml
    if not has_runs and config_of(folder) is None:
        refuse_others(folder)


def config_of(folder: Path) -> Path | None:
    """Returns the settings file of a comparison's folder; None if it is not a comparison's folder."""
    path = folder / CONFIG
    if not path.is_file() or RECORD not in read_toml(path, wanted="A folder of onepeak compare must have its file"):
        return None  # a folder of images may have an unrelated config.toml
    return path


def config_content(opened: Opened, *, command: str) -> dict[str, Any]:
    """Returns the complete settings of the experiment, as written to its file, with a record of what was found."""
    experiment, manifest = located(opened.experiment), opened.prepared.manifest
    network = {name: value for name, value in asdict(opened.network).items() if name != "num_features"}
    base = experiment.recipe.get(BASE, "auto")
    weights = experiment.weights_file
    return plan_content(experiment) | {
        "recipe": {BASE: base, **asdict(opened.recipe)},
        "network": network,
        RECORD: {
            "begun": time.strftime("%Y-%m-%d %H:%M:%S %z"),
            "commands": [command] if command else [],
            "dataset": manifest.name,
            "classes": list(manifest.classes),
            "items": len(manifest),
            "data": opened.digest,
            "weights": None if weights is None else hashlib.sha256(weights.read_bytes()).hexdigest(),
            "backbone": source_digest(opened.network.backbone),
            "versions": versions(),
            "splits": {split.name: _split_digest(split) for split in opened.splits},
        },
    }


def located(experiment: Experiment) -> Experiment:
    """Returns the experiment with absolute paths."""

    def whole(path: str | None) -> str | None:
        return None if path is None else str(expanded(path).resolve())

    in_file = experiment.protocol.lower().endswith((".csv", ".json"))
    order_file = isinstance(experiment.order, str) and experiment.order.strip().endswith(".txt")
    return replace(
        experiment,
        data=experiment.data if experiment.data in DATASETS else whole(experiment.data) or "",
        root=whole(experiment.root),
        order=whole(str(experiment.order).strip()) if order_file else experiment.order,
        protocol=whole(experiment.protocol) or "" if in_file else experiment.protocol,
        weights=whole(experiment.weights),
    )


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yields what makes the runs of both incomparable; the data's location and the number of methods do not matter."""
    record_before, record_now = before.get(RECORD, {}), now[RECORD]
    if record_before.get("data") != record_now["data"]:
        yield f"the data differ ({_other_data(before, now)})"
    elif any(
        record_now["splits"].get(name, digest) != digest for name, digest in record_before.get("splits", {}).items()
    ):
        yield "the splits differ (protocol, folds or seed)"
    if record_before.get("weights") != record_now["weights"]:
        yield "the weights differ"
    if record_before.get("backbone") != record_now["backbone"]:
        yield "the source file of the backbone differs"
    for key in ("seed", "precision", "recipe", "network"):
        yield from _different_values(key, before.get(key), now[key])
    methods = {entry["label"]: entry for entry in before.get("methods", [])}
    for entry in now["methods"]:
        if entry["label"] in methods:
            yield from _different_values(f"methods.{entry['label']}", methods[entry["label"]], entry)


def _other_data(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the data differ: in their names, else in how they are read, else in their content."""
    there, here = (content[RECORD].get("dataset") for content in (before, now))
    if there != here:
        return f"{there} there, {here} here"
    settings = [(key, before.get(key) or None, now[key] or None) for key in OPENED_BY if key != "root"]
    read = [each for values in settings for each in _different_values(*values)]
    return "; ".join(read) or f"{here}: its rows, columns or categories differ"


def _different_values(key: str, before: Any, now: Any) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys([*before, *now]):
            if (key, name) != ("recipe", BASE):
                yield from _different_values(f"{key}.{name}", before.get(name), now.get(name))
    elif (list(now) if isinstance(now, tuple) else now) != before:
        yield f"{key} is {_shown(before)} there and {_shown(now)} here"


def _shown(value: Any) -> str:
    return "not given" if value is None else repr(list(value) if isinstance(value, tuple) else value)


def _grown(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the earlier content with the new methods, splits and commands added."""
    labels = [entry["label"] for entry in before["methods"]]
    new = [entry for entry in now["methods"] if entry["label"] not in labels]
    splits = before[RECORD]["splits"] | now[RECORD]["splits"]
    return {
        **before,
        "methods": [*before["methods"], *new],
        "splits": _larger(before, now, "splits"),
        "folds": _larger(before, now, "folds"),
        RECORD: {**before[RECORD], "commands": _commands(before, now), "splits": splits},
    }


def _larger(before: Mapping[str, Any], now: Mapping[str, Any], key: str) -> int | None:
    """The larger number of splits or folds; None stands for as many as the protocol has."""

    def made(content: Mapping[str, Any]) -> int:
        names = [name.split("-") for name in content[RECORD]["splits"]]  # such as split0-fold0
        return len({fold if key == "folds" else split for split, fold in names})

    found: int | None = (now if made(now) > made(before) else before).get(key)
    return found


def _commands(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """All commands typed for the folder, without duplicates, oldest first."""
    return list(dict.fromkeys([*before[RECORD].get("commands", []), *now[RECORD]["commands"]]))


def _split_digest(split: Split) -> str:
    digest = hashlib.sha256()
    for part in PARTS:
        digest.update(part.encode() + split.parts[part].tobytes())
    return digest.hexdigest()[:16]
