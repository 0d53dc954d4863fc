"""`onepeak fit`: a readable plan, a search on validation by successive halving, and the test part once, at the end.

Trials are runs without a test part, trained by any executor. The plan fixes the settings of all of them before the
first, so that a fit that was killed goes on to the same model: the defaults, and a Sobol sequence around them.
"""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import torch

from onepeak._core.files import write_text_in_one_step
from onepeak._core.formats import json_text
from onepeak._core.records import read_json, record_of
from onepeak._core.wording import counted, duration
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits import Split, make_splits
from onepeak.errors import InputError, OnepeakError
from onepeak.experiment.estimate import probe
from onepeak.experiment.events import Event, Executor
from onepeak.experiment.folder import read_result
from onepeak.experiment.grid import Run
from onepeak.experiment.plan import Experiment, MethodEntry
from onepeak.experiment.prepared import (
    PreparedExperiment,
    check_with,
    open_manifest,
    prepare_experiment,
    splits_of,
)
from onepeak.experiment.tuning import chosen, in_words
from onepeak.training.ensemble import Member, write_ensemble
from onepeak.training.recipe import Recipe
from onepeak.training.run import CHECKPOINT, train_run
from onepeak.training.table_encoder import TableEncoder

if TYPE_CHECKING:
    from lightning.fabric import Fabric

PresetName: TypeAlias = Literal["fast", "good", "best"]
PLAN = "plan.md"
STATE = "fit.json"
SEARCH = "search"
LEADERBOARD = "leaderboard.md"

_FOLDS = {"fast": 1, "good": 3, "best": 5}
_MOST = {"fast": 3, "good": 27, "best": 81}
_RUNGS = {"fast": 1, "good": 3, "best": 3}
_BETTER = 3
"""One in so many candidates goes on to the next rung, with so many times as many epochs."""
_SHARE = 0.8
"""Share of the budget that is planned: the rest is for what a probe cannot foresee."""
_OVERHEAD = 1.0
"""Seconds that a trial takes besides its epochs."""
_FEWEST_EPOCHS = 3
_FEWEST_OF_ROWS = 30
"""Of trainings that take seconds, so short of time as it may be."""
_WORTH_A_PROCESS = 60.0
"""Seconds of a training from which it has a process to itself."""


class UnfinishedError(OnepeakError):
    """No candidate could be trained."""


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """All that a fit will do; written before the first training, and read when it goes on."""

    preset: str
    minutes: float
    methods: list[str]
    folds: int
    epochs: list[int]
    """Of each rung."""
    candidates: list[int]
    """At most as many on each rung."""
    seconds: float
    """What the plan is expected to take."""
    backbone: str
    frozen: bool
    parallel: bool
    """Whether trainings are so long that they are worth processes of their own."""
    data: str
    seed: int
    lines: list[str] = field(default_factory=list)
    """What it says of the data and of its choices, for the reader."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Settings on one rung; the same on every fold."""

    entry: MethodEntry
    rung: int
    score: float = math.nan
    """The mean of the selection metric over the folds' validation parts."""
    seconds: float = 0.0


Tell: TypeAlias = Callable[[str], object]


def make_plan(experiment: Experiment, *, preset: str, minutes: float, speedup: float, fabric: "Fabric") -> FitPlan:
    """Looks at the data and at a few steps of training, and plans within the budget."""
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, only=(0, 0))
    if recipe.encoder_lr is not None:
        raise InputError(
            "`encoder_lr` must be left out of fit, whose networks share one encoder: use onepeak train or compare.",
            argument="encoder_lr",
        )
    (base,) = splits_of(experiment, manifest, only=(0, 0))
    backbone, pace, once = probe(experiment, manifest, base, recipe, fabric=fabric)
    table = isinstance(manifest.items, FeatureRows)
    folds = _FOLDS[preset] if table or experiment.freeze or preset == "best" else 1
    samples = len(base.train) + len(base.valid)
    budget = _SHARE * 60 * minutes - once
    rungs = _RUNGS[preset]

    parallel = not (table or experiment.freeze) and pace * samples * recipe.epochs > _WORTH_A_PROCESS

    def cost(epochs: Sequence[int], counts: Sequence[int]) -> float:
        each = zip(epochs, counts, strict=True)
        return sum(count * folds * (pace * samples * number + _OVERHEAD) for number, count in each) / (
            speedup if parallel else 1.0
        )

    epochs, counts = _rungs(recipe.epochs, 1, rungs)
    fewest = min(_FEWEST_EPOCHS if not (table or experiment.freeze) else _FEWEST_OF_ROWS, recipe.epochs)
    while cost(epochs, counts) > budget and epochs[-1] > fewest:
        epochs, counts = _rungs(max(fewest, epochs[-1] * 3 // 4), 1, rungs)
    names = searched(experiment)
    for number in range(2, (_MOST[preset] if names else len(experiment.methods)) + 1):
        more = _rungs(epochs[-1], number, rungs)
        if cost(*more) > budget:
            break
        epochs, counts = more
    methods = [entry.label for entry in experiment.methods]
    lines = [
        *_about(manifest, base),
        f"method: {', '.join(methods)}; network: {backbone}, {_weights(experiment)}",
        f"search: {_search_line(names, counts, epochs, methods)}, on {counted(folds, 'fold')} of all but the test part",
        f"model: {'the mean of the networks of all folds' if folds > 1 else 'the best network'}, calibrated on the "
        "samples that it was not trained on; the test part is opened once, at the end",
        f"time: about {duration(once + cost(epochs, counts))} of {minutes:g} minutes"
        + (f", of which {duration(once)} for one pass over the images" if once else ""),
    ]
    return FitPlan(
        preset=preset,
        minutes=minutes,
        methods=methods,
        folds=folds,
        epochs=epochs,
        candidates=counts,
        seconds=once + cost(epochs, counts),
        backbone=backbone,
        frozen=experiment.freeze,
        parallel=parallel,
        data=manifest.name,
        seed=experiment.seed,
        lines=[*lines, *manifest.notes],
    )


def _rungs(epochs: int, candidates: int, rungs: int) -> tuple[list[int], list[int]]:
    """The epochs and the candidates of each rung; rungs with a single candidate are the last."""
    counts = [math.ceil(candidates / _BETTER**rung) for rung in range(rungs)]
    shares = [max(_FEWEST_EPOCHS, round(epochs / _BETTER ** (rungs - 1 - rung))) for rung in range(rungs)]
    first = max((rung for rung in range(rungs) if counts[rung] == candidates), default=0)
    return [*shares[first:-1], epochs], counts[first:]


def _about(manifest: Manifest, base: Split) -> list[str]:
    counts = np.bincount(manifest.labels, minlength=manifest.num_classes)
    groups = "no groups" if manifest.groups is None else counted(len(set(manifest.groups)), "group")
    shares = ", ".join(
        f"{name} {count / len(manifest):.0%}" for name, count in zip(manifest.classes, counts, strict=True)
    )
    few = shares if manifest.num_classes <= 12 else f"{counts.min()} to {counts.max()} samples each"
    return [
        f"data: {manifest.name}, {counted(len(manifest), 'sample')}, {groups}, {manifest.num_classes} classes ({few})",
        f"test part: {counted(len(base.test), 'sample')} by the protocol {base.protocol}",
    ]


def _weights(experiment: Experiment) -> str:
    if experiment.weights is None:
        return "random initial weights"
    name = experiment.weights if experiment.weights_file is None else experiment.weights_file.name
    return f"weights {name}, {'frozen' if experiment.freeze else 'trained further'}"


def _search_line(names: Sequence[str], counts: Sequence[int], epochs: Sequence[int], methods: Sequence[str]) -> str:
    if counts[0] == 1:
        return f"none, {epochs[-1]} epochs of the default settings"
    titles = {"lr": "learning rate", "weight_decay": "weight decay"}
    what = ", ".join([*(titles[name] for name in names), *(["method"] if len(methods) > 1 else [])])
    each = ", then ".join(f"{count} of {number} epochs" for count, number in zip(counts, epochs, strict=True))
    return f"{what}, {each}"


def plan_text(plan: FitPlan) -> str:
    """Returns the plan as a page."""
    return "\n".join(["# Plan", "", *(f"- {line}" for line in plan.lines), ""])


def fit(
    experiment: Experiment,
    out: Path,
    plan: FitPlan,
    *,
    executor: Executor,
    fabric: "Fabric",
    cache: Path | None = None,
    quiet: bool = False,
    logger: str = "none",
    tell: Tell = lambda _: None,
    report: Callable[[Event], object] = lambda _: None,
) -> dict[str, Any]:
    """Makes the model of a plan, or goes on with it; returns the content of its `result.json`."""
    if (known := read_result(out)) is not None:
        write_text_in_one_step(out / LEADERBOARD, leaderboard(known))  # a kill may have come before
        return known
    began = time.monotonic()
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, only=(0, 0), cache=cache)
    prepared_experiment = prepare_experiment(
        experiment, manifest, recipe, cache=cache, quiet=quiet, only=(0, 0), device=fabric.device.type
    )
    everything = with_folds(replace(prepared_experiment, logger=logger), plan.folds)
    search = _Search(everything, plan, out / SEARCH, executor=executor, tell=tell, report=report)
    board = search.run()
    result = _finished(everything, board, out, plan, fabric=fabric)
    write_text_in_one_step(out / LEADERBOARD, leaderboard(result))
    shutil.rmtree(out / SEARCH, ignore_errors=True)
    tell(f"{LEADERBOARD} and the model are in {out}; {duration(time.monotonic() - began)}")
    return result


def with_folds(prepared_experiment: PreparedExperiment, folds: int) -> PreparedExperiment:
    """Divides all but the test part into folds, each for validation once; rows are encoded alike in all of them."""
    (base,), prepared = prepared_experiment.splits, prepared_experiment.prepared
    rest = np.sort(np.concatenate([base.train, base.valid]))
    splits: tuple[Split, ...] = (base,)
    if folds > 1:
        seed = prepared_experiment.experiment.seed
        parts = make_splits(prepared.manifest.take(rest), protocol="kfold", splits=1, seed=seed)
        held_out = [rest[part.test] for part in parts][:folds]
        splits = tuple(
            replace(base, train=np.setdiff1d(rest, valid), valid=valid, fold=fold)
            for fold, valid in enumerate(held_out)
        )
    if isinstance(items := prepared.manifest.items, FeatureRows):
        prepared = replace(prepared, row_encoder=TableEncoder.learn(items.take(rest if folds > 1 else base.train)))
    return replace(prepared_experiment, splits=splits, prepared=prepared, trial=True)


class _Search:
    """The candidates of a plan, rung by rung; what is finished is read and not trained again."""

    def __init__(
        self,
        prepared_experiment: PreparedExperiment,
        plan: FitPlan,
        folder: Path,
        *,
        executor: Executor,
        tell: Tell,
        report: Callable[[Event], object],
    ) -> None:
        self.prepared_experiment, self.plan, self.folder = prepared_experiment, plan, folder
        self.executor, self.tell, self.report = executor, tell, report
        first = prepared_experiment.settings(prepared_experiment.experiment.methods[0])
        self.select = first.selection(prepared_experiment.prepared.manifest.name)

    def run(self) -> list[Candidate]:
        """Returns all candidates; those of the last rung last, the best of them first."""
        board: list[Candidate] = []
        candidates = self.first_rung()
        for rung, count in enumerate(self.plan.candidates):
            if rung:
                again = [self.entry(each.entry, rung, place) for place, each in enumerate(candidates[:count])]
                candidates = self.ranked(self.trained(again, rung))
            board = [*board, *candidates]
            best = candidates[0]
            if not math.isfinite(best.score):
                raise UnfinishedError(f"No candidate could be trained: see {self.folder}.")
            self.tell(
                f"{counted(len(candidates), 'candidate')} of {counted(self.plan.epochs[rung], 'epoch')}: best "
                f"validation {self.select} {best.score:.4f} ({best.entry.name}, {in_words(shown(best.entry))})"
            )
            self.drop(candidates[0 if rung + 1 < len(self.plan.candidates) else 1 :])
        return board

    def first_rung(self) -> list[Candidate]:
        """Trains the defaults of every method, and settings spread evenly around them."""
        here, count = self.prepared_experiment, self.plan.candidates[0]
        names, methods = searched(here.experiment), here.experiment.methods
        defaults = {name: getattr(here.recipe, name) for name in names}
        settings = [*[defaults] * len(methods), *spread(here.recipe, names, count, seed=self.plan.seed)]
        entries = []
        for place, changes in enumerate(settings[:count]):
            base = methods[place % len(methods)]
            entries.append(self.entry(replace(base, recipe={**changes, **base.recipe}), 0, place))
        return self.ranked(self.trained(entries, 0))

    def entry(self, base: MethodEntry, rung: int, place: int) -> MethodEntry:
        """Returns the row of a candidate on a rung, with a label of its own."""
        recipe = {**base.recipe, "epochs": self.plan.epochs[rung]}
        return replace(base, recipe=recipe, label=f"rung{rung}-{place}")

    def trained(self, entries: Sequence[MethodEntry], rung: int) -> list[Candidate]:
        """Trains candidates on all folds, as far as that is not done."""
        here = self.prepared_experiment
        here = replace(here, experiment=replace(here.experiment, methods=tuple(entries)))
        runs = [Run(entry=entry, split=each.split, fold=each.fold) for entry in entries for each in here.splits]
        todo = [run for run in runs if read_result(run.folder(self.folder)) is None]
        if todo:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.executor.run(todo, here, self.folder, report=self.report)
        found = []
        for entry in entries:
            results = [read_result(run.folder(self.folder)) for run in runs if run.entry is entry]
            values = [math.nan if each is None or each["value"] is None else each["value"] for each in results]
            seconds = sum(each["seconds"] for each in results if each is not None)
            found.append(Candidate(entry=entry, rung=rung, score=float(np.mean(values)), seconds=seconds))
        return found

    def ranked(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Returns the candidates, the best first; of equals, the first."""
        return sorted(candidates, key=lambda each: chosen_cost(each.score, self.select))

    def drop(self, candidates: Sequence[Candidate]) -> None:
        """Removes the weights of candidates that are not the model; their records stay until the end."""
        for candidate in candidates:
            for path in self.folder.glob(f"runs/{candidate.entry.label}/*/{CHECKPOINT}"):
                path.unlink(missing_ok=True)


def searched(experiment: Experiment) -> list[str]:
    """Returns the settings that a fit chooses: those that were not given."""
    return [name for name in ("lr", "weight_decay") if name not in experiment.recipe]


def spread(recipe: Recipe, names: Sequence[str], count: int, *, seed: int) -> list[dict[str, float]]:
    """Returns values of settings, evenly spread on a logarithmic scale by a scrambled Sobol sequence."""
    if not names:
        return []
    ranges = {"lr": (recipe.lr / 10, recipe.lr * 10), "weight_decay": (1e-5, 0.3)}
    points = torch.quasirandom.SobolEngine(len(names), scramble=True, seed=seed).draw(count, dtype=torch.float64)
    low, high = torch.tensor([ranges[name] for name in names], dtype=torch.float64).log().unbind(dim=1)
    values = (low + points * (high - low)).exp().tolist()
    return [{name: float(f"{value:.3g}") for name, value in zip(names, each, strict=True)} for each in values]


def chosen_cost(value: float, select: str) -> float:
    """Returns a value to be minimised."""
    higher = chosen([0.0, 1.0], select) == 1
    return math.inf if math.isnan(value) else -value if higher else value


def shown(entry: MethodEntry) -> dict[str, Any]:
    """Returns the settings of a candidate that a reader wants to know."""
    return {name: value for name, value in entry.recipe.items() if name != "epochs"} or {"settings": "default"}


def _finished(
    prepared_experiment: PreparedExperiment, board: Sequence[Candidate], out: Path, plan: FitPlan, *, fabric: "Fabric"
) -> dict[str, Any]:
    """Writes the model: the best candidate of the last rung, on one fold or as the mean over all."""
    last = max(each.rung for each in board)
    best = next(each for each in board if each.rung == last)
    settings, prepared = prepared_experiment.settings(best.entry), prepared_experiment.prepared
    members = [
        Member(split=split, folder=Run(entry=best.entry, split=split.split, fold=split.fold).folder(out / SEARCH))
        for split in prepared_experiment.splits
    ]
    rows = [
        {
            "method": each.entry.name,
            **{name: value for name, value in each.entry.recipe.items() if name != "epochs"},
            "epochs": plan.epochs[each.rung],
            "score": each.score if math.isfinite(each.score) else None,
            "seconds": each.seconds,
        }
        for rung in range(last, -1, -1)
        for each in board
        if each.rung == rung
    ]
    about = {"preset": plan.preset, "minutes": plan.minutes, "members": len(members), "board": rows}
    notes = {"label": best.entry.name, "fit": about}
    if len(members) > 1:
        return write_ensemble(settings, prepared, members, out, fabric=fabric, notes=notes)
    if not (out / CHECKPOINT).exists():
        shutil.copyfile(members[0].folder / CHECKPOINT, out / CHECKPOINT)
    return train_run(settings, prepared, members[0].split, out, fabric=fabric, notes=notes)


def leaderboard(result: dict[str, Any]) -> str:
    """Returns the table of all candidates, and what the test part says of the one that was chosen."""
    test, constant, board = result["metrics"]["test"], result["constant"], result["fit"]["board"]
    not_settings = ("method", "epochs", "score", "seconds")
    rows = [
        f"| {row['method']} | {in_words({k: v for k, v in row.items() if k not in not_settings}) or 'default'} "
        f"| {row['epochs']} | {'failed' if row['score'] is None else round(row['score'], 4)} | {row['seconds']:.1f} |"
        for row in board
    ]
    return "\n".join(
        [
            "# Leaderboard",
            "",
            f"The first is the model. The test part was opened once, for it: MAE {test['mae']:.3f}, accuracy "
            f"{test['accuracy']:.1%}, one peak {test['unimodal']:.1%}. Always {constant['label']!r} has an MAE of "
            f"{constant['test_mae']:.3f}.",
            "",
            f"| method | settings | epochs | validation {result['selected_by']} | seconds of training |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def begin_fit(out: Path, wanted: FitPlan | None) -> FitPlan | None:
    """Returns the plan of a fit that has begun here; writes the wanted one where none has."""
    path = out / STATE
    if path.exists():
        fix = "Give another `--out`."
        return record_of(FitPlan, read_json(path, fix=fix), file=path, fix=fix)
    if wanted is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_text_in_one_step(out / PLAN, plan_text(wanted))
        write_text_in_one_step(path, json_text(asdict(wanted)))
    return wanted


def check_same(plan: FitPlan, *, preset: str, minutes: float, methods: Sequence[str], seed: int, frozen: bool) -> None:
    """Refuses to go on with a fit of other settings."""
    asked = {"preset": preset, "minutes": minutes, "methods": list(methods), "seed": seed, "frozen": frozen}
    others = [
        f"{name} = {getattr(plan, name)}, not {value}" for name, value in asked.items() if getattr(plan, name) != value
    ]
    if others:
        raise InputError(f"`--out` holds another fit, with {'; '.join(others)}: give another folder.", argument="out")
