"""Finds and reads the JSON records of runs without torch, which the inspector's first page does not load."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from onepeak._core.digests import check_digests
from onepeak._core.formats import read_toml
from onepeak._core.records import Count, NumClasses, Within, read_json, record_of
from onepeak._core.wording import counted, did_you_mean_file
from onepeak.errors import InputError
from onepeak.training.out_folder import DESCRIPTION, ERROR, FORMAT, RESULT, RUNS


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """A run that ended with an error."""

    label: str
    name: str
    """Its split and fold, as in the name of its folder."""
    message: str
    folder: Path


UNKNOWN_WEIGHTS = "unknown"
"""Stands for the initial weights in records that do not name them, written before they did."""
_FIX = "Delete its folder to run it again."


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The best constant prediction."""

    label: str | None = None
    valid_mae: float = math.nan
    test_mae: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The temperature of a run, and figures of its test part at it."""

    temperature: float = math.nan
    note: str | None = None
    test: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DataCounts:
    """How many samples a run had."""

    items: Count | None = None
    groups: Count | None = None
    group_column: str | None = None
    left_out: Count = 0


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What is read from `result.json`; what has a default was not written by every version."""

    format: int = FORMAT
    method: str
    label: str | None = None
    variant: Literal["corrected", "as_published"]
    method_settings: dict[str, Any] = field(default_factory=dict)
    dataset: str
    num_classes: NumClasses | None = None
    decision: str | None = None
    network: dict[str, str] = field(default_factory=dict)
    weights: str | None = UNKNOWN_WEIGHTS
    frozen: bool = False
    licence: str | None = None
    data: DataCounts | None = None
    protocol: str
    split: Count
    fold: Count
    seed: Count
    recipe: dict[str, Any] = field(default_factory=dict)
    tuned: dict[str, Any] = field(default_factory=dict)
    epochs: Annotated[int, Within(1)]
    best_epoch: Count
    stopped_early: bool = False
    selected_by: str | None = None
    seconds: Annotated[float, Within(0)]
    sizes: dict[str, Count]
    num_groups: dict[str, Count] | None = None
    device: str | None = None
    precision: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, dict[str, float]]
    constant: Constant = field(default_factory=Constant)
    frequency_gap: dict[str, Any] | None = None
    calibration: Calibrated = field(default_factory=Calibrated)

    def __post_init__(self) -> None:
        for key in ("sizes", "metrics", "num_groups"):
            parts: dict[str, object] | None = getattr(self, key)
            for part in ("train", "valid", "test")[key == "metrics" :]:
                if parts is not None and part not in parts:
                    raise InputError("must be given.", key=f"{key}.{part}")
        if not isinstance(self.most_epochs, int):
            raise InputError(f"must be an integer, got {self.most_epochs!r}.", key="recipe.epochs")

    @property
    def most_epochs(self) -> int:
        """The epochs of the recipe; more than `epochs` if patience ended the run."""
        most: int = self.recipe.get("epochs", self.epochs)
        return most


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """The `result.json` of a training that only told how good validation is."""

    value: float | None
    seconds: Annotated[float, Within(0)]
    predict_seconds: Annotated[float, Within(0)] = math.nan
    """Of the prediction of one sample."""
    best_epoch: Count | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What is read from `error.json`."""

    message: str
    time: float = math.nan
    """When it happened, in seconds since 1970."""


def read_run(path: Path) -> RunResult:
    """Reads the `result.json` of a run.

    Raises:
        FileNotFoundError: The file is missing, possibly because another process is retrying the run.
    """
    content = read_json(path, fix=_FIX)
    check_digests(path.parent, path.name)
    if content.get("format", FORMAT) != FORMAT:
        raise InputError(f"{path} is of format {content['format']}: it needs another version of onepeak.")
    return record_of(RunResult, content, file=path, fix=_FIX, extra=True)


def read_content(path: Path) -> dict[str, Any]:
    """Returns all that is in the `result.json` of a run or a trial; see `read_run`."""
    content = read_json(path, fix=_FIX)
    if "value" in content:
        record_of(TrialResult, content, file=path, fix=_FIX)
    else:
        read_run(path)
    return content


def read_error(path: Path) -> Failure:
    """Reads an `error.json`; a damaged one gets the time of the file."""
    try:
        return record_of(Failure, read_json(path), file=path, extra=True)
    except InputError:
        message = f"the reason cannot be read, as {path} is damaged"
        return Failure(message=message, time=path.stat().st_mtime)


def failed_runs(*folders: str | Path) -> tuple[FailedRun, ...]:
    """Returns the runs that ended with an error and have no result, sorted by label, split and fold."""
    found = []
    for folder in folders:
        for path in sorted(_files(Path(folder), ERROR)):
            if (path.parent / RESULT).exists():
                continue  # it succeeded on another attempt
            run, message = path.parent, read_error(path).message
            found.append(FailedRun(label=run.parent.name, name=run.name, message=message, folder=run))
    return tuple(found)


def result_files(folder: Path) -> list[Path]:
    """Lists the results in a folder that `onepeak compare` or `onepeak train` wrote; raises if there are none."""
    results = sorted(_files(folder, RESULT))
    if results:
        return results
    failed = failed_runs(folder)
    reason = none_done(folder)
    if failed:
        reason = f"{counted(len(failed), 'run')} failed, the first with: {failed[0].message}"
    raise InputError(f"`{folder}` must hold at least one finished run, got none: {reason}")


def _files(folder: Path, name: str) -> list[Path]:
    """The files of that name: one per run of a comparison, or that of a single run."""
    if not folder.is_dir():
        raise InputError(
            f"`{folder}` must be a folder that onepeak compare or train wrote, got no folder."
            f"{did_you_mean_file(folder)}"
        )
    if (folder / RUNS).is_dir():
        return list((folder / RUNS).glob(f"*/*/{name}"))
    if (folder / RESULT).exists() or (folder / ERROR).exists():
        return [folder / name] if (folder / name).exists() else []
    raise InputError(
        f"`{folder}` must be a folder of runs, with {RUNS}/ or {RESULT} in it, got one without either: "
        "give the --out folder of onepeak compare or train."
    )


CONFIG = "config.toml"
RECORD = "record"
"""The table that `onepeak compare` adds to the settings of an experiment: what was found when it began."""


@dataclass(frozen=True, kw_only=True)
class ExperimentRecord:
    """What is read from that table."""

    format: int = FORMAT
    commands: tuple[str, ...] = ()
    dataset: str | None = None
    classes: tuple[str | int, ...] = ()
    items: Count | None = None
    data: str | None = None
    splits: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExperimentConfig:
    """What is read from `config.toml`, besides the settings of an experiment."""

    methods: tuple[str | dict[str, Any], ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)
    record: ExperimentRecord = field(default_factory=ExperimentRecord)


def read_config(folder: Path) -> dict[str, Any] | None:
    """Returns the settings of an experiment; None if there are none, or they cannot be read."""
    try:
        content = read_toml(folder / CONFIG, wanted="")
        record_of(ExperimentConfig, content, file=folder / CONFIG, extra=True)
    except InputError:
        return None
    return content


def recorded_classes(config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Returns the class names in order, as the experiment recorded them; empty if it did not."""
    return tuple(map(str, (config or {}).get(RECORD, {}).get("classes", ())))


@dataclass(frozen=True, kw_only=True)
class _Classes:
    classes: tuple[str, ...] = ()


def classes_of_model(run: Path) -> tuple[str, ...]:
    """Returns the class names of a run's model; empty if it has none."""
    path = run / DESCRIPTION
    return record_of(_Classes, read_json(path), file=path, extra=True).classes if path.exists() else ()


def none_done(folder: Path) -> str:
    """Says why an experiment without a finished run cannot be read, and how to continue it."""
    command = shlex.join(["onepeak", "compare", str(folder)])
    return f"none is done. Continue with: {command}" if (folder / CONFIG).is_file() else "none is done."
