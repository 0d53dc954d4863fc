"""The folder of an experiment: `config.toml` records its settings, so that another experiment is refused."""

import hashlib
import socket
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from onepeak._core.files import expanded, locked, write_text_in_one_step
from onepeak._core.formats import json_text, read_toml, toml_text
from onepeak._core.records import record_of
from onepeak.data.source import DataSource
from onepeak.data.splits import PARTS, PROTOCOLS, Split
from onepeak.data.splits.protocols import READINGS
from onepeak.errors import InputError
from onepeak.experiment.plan import Experiment, Run, plan_content
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.run_files import CONFIG, RECORD, ExperimentRecord, read_content, read_error
from onepeak.networks.own_backbone import source_digest
from onepeak.training.out_folder import ERROR, FORMAT, RESULT, RUNS, check_out, make_out, refuse_others
from onepeak.training.prepare import PRETRAINED
from onepeak.training.presets import BASE
from onepeak.training.run import versions

_LOCK = ".lock"
_HEAD = "# Written by `onepeak compare`; pass it this file to repeat the experiment.\n"


@dataclass(frozen=True, kw_only=True)
class _Entry:
    label: str


@dataclass(frozen=True, kw_only=True)
class _Begun:
    """What must be in the file to go on with an experiment."""

    methods: tuple[_Entry, ...]
    record: ExperimentRecord


def begin(folder: Path, prepared_experiment: PreparedExperiment, *, command: str = "") -> None:
    """Writes the settings to the folder; if they exist, adds new methods, splits and commands to them.

    Raises:
        InputError: The folder holds another experiment, or something else; the message lists the differences.
    """
    check_folder_path(folder)
    make_out(folder)
    with locked(folder / _LOCK):
        path = folder / CONFIG
        content = config_content(prepared_experiment, command=command)
        if path.exists():
            before = read_toml(path, wanted="`--out` must be a folder of onepeak compare")
            record_of(_Begun, before, file=path, extra=True)
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


def check_folder_path(folder: Path) -> None:
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


def config_content(prepared_experiment: PreparedExperiment, *, command: str) -> dict[str, Any]:
    """Returns the complete settings of the experiment, as written to its file, with a record of what was found."""
    experiment, manifest = located(prepared_experiment.experiment), prepared_experiment.prepared.manifest
    network = {name: value for name, value in asdict(prepared_experiment.network).items() if name != "num_features"}
    base = experiment.recipe.get(BASE, "auto")
    weights, encoder = prepared_experiment.weights_file, prepared_experiment.prepared.encoder_digest
    if encoder is not None:  # the backbone of texts is their encoder
        del network["backbone"]
        network |= {"backbone": given} if (given := experiment.network.get("backbone")) else {}
    return plan_content(experiment) | {
        "recipe": {BASE: base, **asdict(prepared_experiment.recipe)},
        "network": network,
        RECORD: {
            "format": FORMAT,
            "begun": time.strftime("%Y-%m-%d %H:%M:%S %z"),
            "commands": [command] if command else [],
            "dataset": manifest.name,
            "classes": list(manifest.classes),
            "items": len(manifest),
            "data": prepared_experiment.digest,
            "weights": None if weights is None else hashlib.sha256(weights.read_bytes()).hexdigest(),
            "backbone": source_digest(prepared_experiment.network.backbone),
            "encoder": encoder,
            "versions": versions(),
            "splits": {split.name: _split_digest(split) for split in prepared_experiment.splits},
        },
    }


def located(experiment: Experiment) -> Experiment:
    """Returns the experiment with absolute paths."""

    def whole(path: str | None) -> str | None:
        return None if path is None else str(expanded(path).resolve())

    protocol, network = experiment.protocol, experiment.network
    encoder = network.get("backbone") if experiment.source.text is not None else None
    if encoder is not None and expanded(encoder).is_dir():  # else the name of a model
        network = {**network, "backbone": whole(encoder)}
    in_file = protocol.lower().endswith((".csv", ".json"))
    in_file |= protocol not in READINGS and protocol not in PROTOCOLS and expanded(protocol).is_dir()
    return replace(
        experiment,
        source=experiment.source.resolved(),
        protocol=whole(protocol) or "" if in_file else protocol,
        weights=experiment.weights if experiment.weights == PRETRAINED else whole(experiment.weights),
        network=network,
    )


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yields what makes the runs of both incomparable; the data's location and the number of methods do not matter."""
    record_before, record_now = before.get(RECORD, {}), now[RECORD]
    if record_before.get("format", FORMAT) != FORMAT:
        yield f"its format is {record_before['format']}, from another version of onepeak"
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
    if record_before.get("encoder") != record_now["encoder"]:
        yield "the encoder of the texts differs (--backbone)"
    yield from different_values("tune", before.get("tune", {}), now["tune"])
    yield from different_values("freeze", before.get("freeze", False), now["freeze"])
    if record_now["encoder"] is not None:  # known by its content, wherever it lies
        before, now = ({**each, "network": {**each.get("network", {}), "backbone": None}} for each in (before, now))
    for key in ("seed", "precision", "recipe", "network"):
        yield from different_values(key, before.get(key), now[key])
    methods = {entry["label"]: entry for entry in before.get("methods", [])}
    for entry in now["methods"]:
        if entry["label"] in methods:
            yield from different_values(f"methods.{entry['label']}", methods[entry["label"]], entry)


_HOW_DATA_ARE_READ = [each.name for each in fields(DataSource) if each.name not in ("data", "root")]


def _other_data(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the data differ: in their names, else in how they are read, else in their content."""
    there, here = (content[RECORD].get("dataset") for content in (before, now))
    if there != here:
        return f"{there} there, {here} here"
    settings = [(key, before.get(key) or None, now[key] or None) for key in _HOW_DATA_ARE_READ]
    read = [each for values in settings for each in different_values(*values)]
    return "; ".join(read) or f"{here}: its rows, columns or categories differ"


def different_values(key: str, before: Any, now: Any) -> Iterator[str]:
    """Yields in what two values of a setting differ, in words."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys([*before, *now]):
            if (key, name) != ("recipe", BASE):
                yield from different_values(f"{key}.{name}", before.get(name), now.get(name))
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


CLAIM = ".claim"


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Claims a run for this process unless another holds it; the claim ends with the block, or with the process.

    Yields:
        Whether this process holds the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / CLAIM, wait=False) as ours:
        yield ours


def read_result(folder: Path) -> dict[str, Any] | None:
    """Reads the result of a finished run; None if it is not finished."""
    try:
        return read_content(folder / RESULT)
    except FileNotFoundError:
        return None


_SKEW = 60.0
"""Seconds that the clock of another machine may be ahead."""


def read_failure(folder: Path, *, since: float = 0.0) -> str | None:
    """Returns why a run failed at its last attempt; None if it did not fail since then.

    A time in the future, which a wrong clock writes, is before any other: it must not stop a retry for ever.
    """
    try:
        failure = read_error(folder / ERROR)
    except FileNotFoundError:
        return None
    moment = failure.time if failure.time <= time.time() + _SKEW else 0.0
    return failure.message if moment >= since else None


def write_failure(folder: Path, run: Run, message: str, *, error: BaseException | None = None) -> None:
    """Records why a run failed, with the traceback if there is one."""
    content = {
        "label": run.entry.label,
        "method": run.entry.name,
        "split": run.split,
        "fold": run.fold,
        "message": message,
        "kind": None if error is None else type(error).__name__,
        "traceback": None if error is None else "".join(traceback.format_exception(error)),
        "machine": socket.gethostname(),
        "time": time.time(),
    }
    write_text_in_one_step(folder / ERROR, json_text(content))


def forget_failure(folder: Path) -> None:
    """Removes the record of an earlier failure."""
    (folder / ERROR).unlink(missing_ok=True)
