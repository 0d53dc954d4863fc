"""`onepeak fit`: a readable plan, a search on validation, and the test part once, at the end.

Trials are runs without a test part, trained by any executor. A fit that was killed goes on to the same model.
"""

import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from onepeak._core.files import write_text_in_one_step
from onepeak._core.formats import json_text
from onepeak._core.records import read_json, record_of
from onepeak._core.wording import counted, duration
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.data.splits import Split, make_splits
from onepeak.errors import InputError
from onepeak.experiment.estimate import probe
from onepeak.experiment.events import Event, Executor
from onepeak.experiment.folder import different_values, read_result
from onepeak.experiment.plan import Experiment, Run, plan_content
from onepeak.experiment.prepared import (
    PreparedExperiment,
    check_with,
    open_manifest,
    prepare_experiment,
    splits_of,
)
from onepeak.experiment.search import Candidate, Cost, Search, Step, Tell, searched, shown
from onepeak.experiment.tuning import in_words
from onepeak.training.ensemble import Member, write_ensemble
from onepeak.training.features import flips_of
from onepeak.training.recipe import Recipe
from onepeak.training.run import CHECKPOINT, train_run
from onepeak.training.table_encoder import TableEncoder

if TYPE_CHECKING:
    from lightning.fabric import Fabric

PresetName: TypeAlias = Literal["fast", "good", "best"]
METHODS: dict[PresetName, str] = {"fast": "peak", "good": "peak,smooth-slopes,clm", "best": "peak,smooth-slopes,clm"}
"""Those that a preset chooses from by default: accurate ones whose posteriors have one peak (`results/catalog`)."""
PLAN = "plan.md"
STATE = "fit.json"
SEARCH = "search"
LEADERBOARD = "leaderboard.md"

_FOLDS = {"fast": 1, "good": 3, "best": 5}
_RUNGS = {"fast": 1, "good": 3, "best": 3}
_SHARE = 0.97
"""Share of the budget at which the search ends, but for the time of the last predictions."""
_START = 1.0
"""Seconds that a training is expected to take besides its epochs."""
_OF_WHOLE = 0.4
"""Share of the budget that one candidate of whole networks may take, to be tried after a frozen backbone."""
_MOST_TOLD = 8
"""Lines of a plan, besides those on the data, that are told; all of them are in its file."""
_WORTH_A_PROCESS = 60.0
"""Seconds of a training from which it has a process to itself."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One search: of heads on a frozen backbone, or of whole networks."""

    frozen: bool
    cost: Cost
    """What trainings are expected to take."""
    parallel: bool
    """Whether trainings are so long that they are worth processes of their own."""
    steps: list[Step] = field(default_factory=list)
    """The decisions of the search, each written before it is carried out."""


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """What a fit is to do, written before the first training; and what it decided since, read when it goes on."""

    preset: str
    minutes: float
    settings: dict[str, Any]
    """Those of the experiment, to know it again."""
    stages: list[Stage]
    """One, or that of a frozen backbone first and then whole networks, if there is time for both."""
    look: float
    """Seconds of one pass over the images by a frozen backbone; 0 without one."""
    backbone: str
    flips: bool = False
    """Whether predicting mirror images too is tried."""
    one_view: bool = False
    """Whether a frozen backbone sees no mirror images, for which there is no time."""
    lines: list[str] = field(default_factory=list)
    """What it says of the data and of its choices, for the reader."""
    seconds: float = 0.0
    """Time until the plan was made."""

    @property
    def folds(self) -> int:
        """How many networks the model has."""
        return self.stages[0].cost.folds

    @property
    def spent(self) -> float:
        """Seconds until the last decision."""
        return max([self.seconds, *(step.seconds for stage in self.stages for step in stage.steps)])

    def limit(self, number: int) -> float:
        """Seconds at which a stage ends, so that the fit ends in time: half of them if another follows."""
        most = _SHARE * 60 * self.minutes - 2 * self.stages[-1].cost.epoch * self.folds
        return most if number + 1 == len(self.stages) else most / 2

    def minutes_for(self, number: int, seconds: float) -> int:
        """The fewest whole minutes with which a stage would end at so many seconds or later; see `limit`."""
        most = seconds if number + 1 == len(self.stages) else 2 * seconds
        return math.ceil((most + 2 * self.stages[-1].cost.epoch * self.folds) / (60 * _SHARE))


def make_plan(
    experiment: Experiment,
    *,
    preset: PresetName,
    minutes: float,
    speedup: float,
    fabric: "Fabric",
    clock: Callable[[], float],
    flips: bool | None = None,
    may_thaw: bool = False,
    cache: Path | None = None,
    tell: Tell = lambda _: None,
) -> FitPlan:
    """Looks at the data and at a few steps of training, and plans within the budget; tells each as soon as it knows.

    With `flips`, by default for "best", the mean over images and mirror images is taken if validation finds it better.
    With `may_thaw`, whole networks are tried after the frozen backbone, if there is time for them. Where the first pass
    over the images and one training take longer than the budget, the plan says what would be enough; a frozen backbone
    sees no mirror images if the pass alone takes half of it.
    """
    manifest = open_manifest(experiment)
    recipe = check_with(manifest, experiment, only=(0, 0), cache=cache)
    if recipe.encoder_lr is not None:
        raise InputError(
            "`encoder_lr` must be left out of fit, whose networks share one encoder: use onepeak train or compare.",
            argument="encoder_lr",
        )
    (base,) = splits_of(experiment, manifest, only=(0, 0))
    about = _about(manifest, base)
    for line in (*about, "timing one training ..."):
        tell(line)
    found = probe(experiment, manifest, base, recipe, fabric=fabric, cache=cache)
    short = isinstance(manifest.items, FeatureRows) or experiment.freeze
    folds = _FOLDS[preset] if short or preset == "best" else 1
    samples = len(base.train) + len(base.valid)

    def stage_of(pace: float, epochs: int, *, frozen: bool) -> Stage:
        rows = frozen or isinstance(manifest.items, FeatureRows)
        parallel = not rows and pace * samples * epochs > _WORTH_A_PROCESS
        cost = Cost(epoch=pace * samples, start=_START, folds=folds, speedup=speedup if parallel else 1.0)
        return Stage(frozen=frozen, cost=cost, parallel=parallel)

    can_flip = folds > 1 and recipe.augment.horizontal_flip and not isinstance(manifest.items, FeatureRows)
    if flips and not can_flip:
        raise InputError(
            "`flips` needs several networks (--preset good or best) of images that training mirrors (augment."
            "horizontal_flip of the recipe): leave it out.",
            argument="flips",
        )
    plan = FitPlan(
        preset=preset,
        minutes=minutes,
        settings=_settings(experiment),
        stages=[stage_of(found.pace, recipe.epochs, frozen=experiment.freeze)],
        look=found.features,
        backbone=found.backbone,
    )
    first, training = found.first_pass, plan.stages[0].cost.of([1], [recipe.epochs])
    views, problem = len(flips_of(recipe.augment)), ""
    if (end := clock() + first + training) > plan.limit(0):
        what = "reading the images and one whole training, which take" if first else "one whole training, which takes"
        problem = (
            f"not enough for {what} {duration(first + training)}: give --minutes {plan.minutes_for(0, end)} or more"
        )
        if experiment.freeze and not (found.has_features or flips) and views > 1 and first > plan.limit(0) / 2:
            plan, can_flip = replace(plan, look=found.features / views, one_view=True), False
            problem += f"; mirror images are left out, which saves {duration(found.features - plan.look)}"
    elif may_thaw and experiment.freeze:
        thawed = replace(experiment, freeze=False)
        longer = check_with(manifest, thawed, only=(0, 0), cache=cache)
        pace = probe(thawed, manifest, base, longer, fabric=fabric, cache=cache).pace
        whole = stage_of(pace, longer.epochs, frozen=False)
        if whole.cost.of([1], [longer.epochs]) < _OF_WHOLE * (60 * minutes - clock() - first):
            plan = replace(plan, stages=[*plan.stages, whole])
    plan = replace(plan, flips=can_flip and (preset == "best" if flips is None else flips))
    lines = [*_choices(plan, experiment, recipe, first), *([problem] if problem else []), *manifest.notes]
    for line in lines[:_MOST_TOLD]:
        tell(line)
    return replace(plan, lines=[*about, *lines], seconds=clock())


def _choices(plan: FitPlan, experiment: Experiment, recipe: Recipe, first: float) -> list[str]:
    """What the plan says of its choices and of the time, of which the images take so much at first."""
    methods, folds = [entry.label for entry in experiment.methods], plan.folds
    candidate = duration(plan.stages[0].cost.of([1], [recipe.epochs]))
    return [
        f"method: {', '.join(methods)}; network: {plan.backbone}, {_weights(experiment)}"
        f"{', then whole networks in the second half of the time' if len(plan.stages) > 1 else ''}",
        f"search: {_search_line(searched(experiment), methods, plan.preset)}, on {counted(folds, 'fold')} of all but "
        "the test part",
        f"model: {'the mean of the networks of all folds' if folds > 1 else 'the best network'}"
        f"{', of images and mirror images if that is better' if plan.flips else ''}, calibrated on the "
        "samples that it was not trained on; the test part is opened once, at the end",
        f"time: {_in_minutes(plan.minutes)}; one candidate of {counted(recipe.epochs, 'epoch')} takes about {candidate}"
        + (f", after {duration(first)} to read the images the first time" if first else ""),
    ]


def _in_minutes(minutes: float) -> str:
    return f"{minutes:g} minute{'' if minutes == 1 else 's'}"


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


def _search_line(names: Sequence[str], methods: Sequence[str], preset: str) -> str:
    titles = {"lr": "learning rate", "weight_decay": "weight decay"}
    what = [*(titles[name] for name in names), *(["method"] if len(methods) > 1 else [])]
    if not what:
        return "none, as learning rate and weight decay were given"
    rounds = (
        "" if preset == "fast" else ", in rounds of successive halving while there is time and they find better ones"
    )
    return ", ".join(what) + rounds


def plan_text(plan: FitPlan) -> str:
    """Returns the plan as a page."""
    return "\n".join(["# Plan", "", *(f"- {line}" for line in plan.lines), ""])


def fit(
    experiment: Experiment,
    out: Path,
    plan: FitPlan,
    *,
    executor: Callable[[bool], Executor],
    fabric: "Fabric",
    cache: Path | None = None,
    quiet: bool = False,
    logger: str = "none",
    tell: Tell = lambda _: None,
    report: Callable[[Event], object] = lambda _: None,
    clock: Callable[[], float],
) -> dict[str, Any]:
    """Makes the model of a plan, or goes on with it; returns the content of its `result.json`.

    `executor` makes what trains a stage, in parallel or not. `clock` gives the seconds that the fit has taken so far,
    those before an interruption too.
    """
    if (known := read_result(out)) is not None:
        write_text_in_one_step(out / LEADERBOARD, leaderboard(known))  # a kill may have come before
        return known
    boards: list[tuple[Candidate, Path, PreparedExperiment]] = []
    stages = list(plan.stages)
    for number, stage in enumerate(plan.stages):
        own = replace(experiment, freeze=stage.frozen)
        if stage.frozen and plan.one_view:
            augment = {**own.recipe.get("augment", {}), "horizontal_flip": False, "vertical_flip": False}
            own = replace(own, recipe={**own.recipe, "augment": augment})
        manifest = open_manifest(own)
        recipe = check_with(manifest, own, only=(0, 0), cache=cache)
        prepared_experiment = prepare_experiment(
            own, manifest, recipe, cache=cache, quiet=quiet, only=(0, 0), device=fabric.device.type
        )
        everything = with_folds(replace(prepared_experiment, logger=logger), plan.folds)

        def keep(steps: Sequence[Step], number: int = number) -> None:
            stages[number] = replace(stages[number], steps=list(steps))
            _keep(replace(plan, stages=stages), out)

        search = Search(
            prepared_experiment=everything,
            folder=out / SEARCH / str(number),
            executor=executor(stage.parallel),
            steps=list(stage.steps),
            keep=keep,
            cost=stage.cost,
            limit=plan.limit(number),
            minutes_for=partial(plan.minutes_for, number),
            clock=clock,
            rungs=_RUNGS[plan.preset],
            may_be_empty=number > 0,
            tell=tell,
            report=report,
        )
        boards += [(candidate, search.folder, everything) for candidate in search.run()]
    order = search.ranked([candidate for candidate, *_ in boards])
    boards = sorted(boards, key=lambda each: order.index(each[0]))
    result = _finished(boards, out, plan, fabric=fabric)
    write_text_in_one_step(out / LEADERBOARD, leaderboard(result))
    shutil.rmtree(out / SEARCH, ignore_errors=True)
    tell(f"{LEADERBOARD} and the model are in {out}; {duration(clock())} of {_in_minutes(plan.minutes)}")
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


def _finished(
    board: Sequence[tuple[Candidate, Path, PreparedExperiment]], out: Path, plan: FitPlan, *, fabric: "Fabric"
) -> dict[str, Any]:
    """Writes the model: the best candidate, on one fold or as the mean over all."""
    best, folder, prepared_experiment = board[0]
    settings, prepared = prepared_experiment.settings(best.entry), prepared_experiment.prepared
    members = [
        Member(split=split, folder=Run(entry=best.entry, split=split.split, fold=split.fold).folder(folder))
        for split in prepared_experiment.splits
    ]
    look = plan.look / len(prepared.manifest)
    rows = [
        {
            "method": each.entry.name,
            **({"frozen": of.experiment.freeze} if len(plan.stages) > 1 else {}),
            **shown(each.entry),
            "epochs": each.epochs,
            "score": each.score if math.isfinite(each.score) else None,
            "seconds": round(each.seconds, 3),
            "predict_ms": round(1000 * (look * of.experiment.freeze + plan.folds * each.predict_seconds), 4),
        }
        for each, _, of in board
    ]
    about = {"preset": plan.preset, "minutes": plan.minutes, "members": len(members), "board": rows}
    notes = {"label": best.entry.name, **prepared_experiment.notes_of_run(members[0].split), "fit": about}
    if len(members) > 1:
        return write_ensemble(settings, prepared, members, out, fabric=fabric, notes=notes, flips=plan.flips)
    if not (out / CHECKPOINT).exists():
        shutil.copyfile(members[0].folder / CHECKPOINT, out / CHECKPOINT)
    return train_run(settings, prepared, members[0].split, out, fabric=fabric, notes=notes)


def leaderboard(result: dict[str, Any]) -> str:
    """Returns the table of all candidates, and what the test part says of the one that was chosen."""
    test, constant, select = result["metrics"]["test"], result["constant"], result["selected_by"]
    not_settings = ("method", "epochs", "score", "seconds", "predict_ms")
    lines = []
    for row in result["fit"]["board"]:
        settings = in_words({name: value for name, value in row.items() if name not in not_settings}) or "default"
        score = "failed" if row["score"] is None else f"{row['score']:.4f}"
        lines.append(
            f"| {row['method']} | {settings} | {row['epochs']} | {score} | {row['seconds']:.1f} "
            f"| {row['predict_ms']:.3g} |"
        )
    always = f"{constant['valid_mae']:.4f}" if select in ("mae", "last") else ""
    return "\n".join(
        [
            "# Leaderboard",
            "",
            f"The first is the model. The test part was opened once, for it: MAE {test['mae']:.3f}, accuracy "
            f"{test['accuracy']:.1%}, one peak {test['unimodal']:.1%}. Always {constant['label']!r} has an MAE of "
            f"{constant['test_mae']:.3f}.",
            "",
            f"| method | settings | epochs | validation {select} | seconds of training | ms per prediction |",
            "|---|---|---|---|---|---|",
            *lines,
            f"| always {constant['label']!r} | | | {always} | 0 | 0 |",
            "",
            "The time of a prediction is that of one sample among many, with all networks of the model.",
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
        _keep(wanted, out)
    return wanted


def _keep(plan: FitPlan, out: Path) -> None:
    write_text_in_one_step(out / STATE, json_text(asdict(plan)))


def _settings(experiment: Experiment) -> dict[str, Any]:
    """The settings of an experiment as a file gives them back, without the folder of its data, which may move."""
    content: dict[str, Any] = json.loads(json_text(plan_content(experiment)))
    return {name: value for name, value in content.items() if name not in ("data", "root")}


def check_same(plan: FitPlan, experiment: Experiment, *, preset: str, minutes: float, flips: bool | None) -> None:
    """Refuses to go on with a fit of other settings or other data."""
    there = {"preset": plan.preset, "minutes": plan.minutes, "flips": plan.flips, **plan.settings}
    here = {"preset": preset, "minutes": minutes, "flips": plan.flips if flips is None else flips}
    here |= _settings(experiment)
    others = [each for name in here for each in different_values(name, there.get(name), here[name])]
    if others:
        raise InputError(f"`--out` holds another fit: {'; '.join(others)}. Give another folder.", argument="out")
