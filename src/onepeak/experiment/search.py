"""The search of `onepeak fit`: rounds of successive halving on validation, as many as the time allows.

A round begins with candidates of few epochs, of which the better third goes on with three times as many. The first
round is small, so that the time of a training is known before much of it is spent. Every step is decided from the time
left, and the decision is written down before it is carried out: a search that was killed repeats its decisions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from onepeak._core.wording import counted, duration
from onepeak.errors import OnepeakError
from onepeak.experiment.events import Event, Executor
from onepeak.experiment.folder import read_result
from onepeak.experiment.plan import Experiment, MethodEntry, Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.tuning import in_words
from onepeak.training.convergence import ran_out, to_lower, values_to_lower
from onepeak.training.recipe import Recipe
from onepeak.training.run import CHECKPOINT

BETTER = 3
"""One in so many candidates goes on to the next step, with so many times as many epochs."""
_MOST = 27
"""Candidates of a round."""
_VAIN_ROUNDS = 2
"""Rounds without a better candidate after which nothing is left to try."""
_MOST_EPOCHS = 4
"""Times the recipe's epochs, for a candidate that is still improving at its last."""
_FEWEST, _FEWEST_OF_SHORT = 3, 30
"""Epochs of a training, so short of time as it may be: of one that takes minutes, and of one that takes seconds."""
_WORTH_MEASURING = 60.0
"""Seconds of a training from which even one alone begins with a short one, to know its time."""


class UnfinishedError(OnepeakError):
    """No candidate could be trained."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What trainings take: estimated in a probe, then measured."""

    epoch: float
    """Seconds of an epoch."""
    start: float
    """Seconds of a training besides its epochs."""
    folds: int
    speedup: float = 1.0
    """How many trainings go on at once."""

    def of(self, counts: Sequence[int], epochs: Sequence[int]) -> float:
        """Returns the seconds of so many candidates of so many epochs each, on all folds."""
        each = zip(counts, epochs, strict=True)
        return sum(count * self.folds * (self.epoch * many + self.start) for count, many in each) / self.speedup

    def measured(self, results: Sequence[dict[str, Any]], epochs: int, seconds: float) -> "Cost":
        """Returns the cost of trainings like these, which took so long together."""
        trained = sum(each["seconds"] for each in results)
        if not trained:
            return self
        start = max(0.0, seconds * self.speedup - trained) / len(results)
        return replace(self, epoch=trained / (epochs * len(results)), start=start)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One decision of a search: how many candidates are trained next, and for how long."""

    round: int
    candidates: int
    """0 ends the search."""
    epochs: int
    ahead: list[int] = field(default_factory=list)
    """Epochs of the steps that are still ahead in this round."""
    seconds: float = 0.0
    """Time that the fit had taken before."""
    reason: str = ""
    """Why the search ends."""


def next_step(
    done: Sequence[Step],
    cost: Cost,
    left: float,
    *,
    epochs: int,
    fewest: int,
    rungs: int,
    most: int,
    vain: str = "",
    may_be_none: bool = False,
) -> Step:
    """Decides what to train in the seconds left.

    What is left at the end is filled with one training of fewer epochs. The first of all is never left out.

    Args:
        done: The decisions so far.
        cost: What trainings take.
        left: Seconds until the search should end.
        epochs: Epochs of the last step of a new round.
        fewest: Fewest epochs of a training.
        rungs: Most steps of a round.
        most: Most candidates of a new round.
        vain: Why another round would find nothing better, if so.
        may_be_none: Whether nothing is trained if there is no time for much of a training.

    Example:
        >>> step = next_step([], Cost(epoch=0.1, start=0, folds=1), 60, epochs=90, fewest=3, rungs=3, most=9)
        >>> step.candidates, step.epochs, step.ahead
        (9, 10, [30, 90])
    """
    last = done[-1] if done else None
    if last is not None and last.ahead:
        number, most, epochs = last.round, math.ceil(last.candidates / BETTER), last.ahead[-1]
        plans = dict.fromkeys(range(1, most + 1), last.ahead)
    else:
        number, plans = 0 if last is None else last.round + 1, {}
        alone = 2 if last is None and rungs > 1 and cost.of([1], [epochs]) > _WORTH_MEASURING else 1
        for count in range(1, most + 1):
            steps = min(rungs, max(alone, 1 + math.ceil(math.log(count, BETTER) - 1e-9)))
            plans[count] = sorted({max(min(fewest, epochs), round(epochs / BETTER**rung)) for rung in range(steps)})
        if vain:
            return Step(round=number, candidates=0, epochs=epochs, reason=vain)
    for count in reversed(plans):
        first, *ahead = plans[count]
        if cost.of([math.ceil(count / BETTER**rung) for rung in range(1 + len(ahead))], plans[count]) <= left:
            return Step(round=number, candidates=count, epochs=first, ahead=ahead)
    affordable, fewest = int((left * cost.speedup / cost.folds - cost.start) / cost.epoch), min(fewest, epochs)
    if (done or may_be_none) and affordable < max(fewest, epochs / BETTER):
        return Step(round=number, candidates=0, epochs=epochs, reason="no time is left for another training")
    return Step(round=number, candidates=1, epochs=max(fewest, min(epochs, affordable)))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Settings that were trained on every fold."""

    entry: MethodEntry
    epochs: int
    round: int
    score: float
    """The mean of the selection metric over the folds' validation parts; NaN for one that failed."""
    seconds: float
    """Of training, on all folds."""
    predict_seconds: float
    """Of the prediction of one sample by one network."""


Tell: TypeAlias = Callable[[str], object]


@dataclass(kw_only=True)
class Search:
    """The candidates of a fit, step by step; what is finished is read and not trained again."""

    prepared_experiment: PreparedExperiment
    """Data, folds and the defaults."""
    folder: Path
    executor: Executor
    steps: list[Step]
    """The decisions so far."""
    keep: Callable[[Sequence[Step]], object]
    """Writes the decisions down."""
    cost: Cost
    """What trainings are expected to take, corrected as they are trained."""
    limit: float
    """Seconds of the fit at which the search ends."""
    minutes_for: Callable[[float], int]
    """The minutes of a fit whose search ends at so many seconds."""
    clock: Callable[[], float]
    """Seconds of the fit."""
    rungs: int
    """Steps of a round."""
    may_be_empty: bool = False
    """Whether nothing is trained, or nothing found, if there is no time."""
    tell: Tell
    report: Callable[[Event], object]
    board: list[Candidate] = field(default_factory=list)
    """All candidates, the best first."""

    def __post_init__(self) -> None:
        self.expected = self.cost
        self.names = searched(self.prepared_experiment.experiment)
        first = self.prepared_experiment.settings(self.methods[0])
        self.select = first.selection(self.prepared_experiment.prepared.manifest)

    def run(self) -> list[Candidate]:
        """Returns all candidates, the best first: a short training is one to its own end, and may be the best."""
        number, latest = 0, list[Candidate]()
        while (step := self.decided(number)).candidates:
            begins = number == 0 or not self.steps[number - 1].ahead
            entries = self.fresh(step) if begins else [each.entry for each in latest[: step.candidates]]
            latest = self.ranked(self.trained(entries, step, number))
            self.board = self.ranked([*self.board, *latest])
            self.drop_all_but(self.board[0])
            best = latest[0]
            self.tell(
                f"{counted(len(latest), 'candidate')} of {counted(step.epochs, 'epoch')}: best validation "
                f"{self.select} {best.score:.4f} ({best.entry.name}, {in_words(shown(best.entry)) or 'default'})"
            )
            number += 1
        if not self.may_be_empty and not (self.board and math.isfinite(self.board[0].score)):
            raise UnfinishedError(f"No candidate could be trained: see {self.folder}.")
        self.tell(f"search ends after {duration(self.clock())}: {step.reason}")
        return self.board

    def decided(self, number: int) -> Step:
        """Returns a step as it was decided before, or decides it now."""
        if number < len(self.steps):
            return self.steps[number]
        recipe, seconds = self.prepared_experiment.recipe, self.clock()
        step = next_step(
            self.steps,
            self.cost,
            self.limit - seconds,
            epochs=self.epochs(),
            fewest=_FEWEST if self.cost.epoch * recipe.epochs > _WORTH_MEASURING else _FEWEST_OF_SHORT,
            rungs=self.rungs,
            most=self.most(self.round + 1),
            vain=self.vain(),
            may_be_none=self.may_be_empty,
        )
        self.steps.append(replace(step, seconds=round(seconds, 1)))
        self.keep(self.steps)
        return self.steps[-1]

    @property
    def round(self) -> int:
        """The last round that began; -1 before the first."""
        return self.steps[-1].round if self.steps else -1

    def most(self, number: int) -> int:
        """Returns the most candidates of a round."""
        return max(len(self.methods), min(_MOST, BETTER ** (1 + number))) if self.names else len(self.methods)

    def epochs(self) -> int:
        """Returns the epochs of a new round: twice those of the best if it was still improving at its last."""
        usual = self.prepared_experiment.recipe.epochs
        if not self.board or math.isnan(self.board[0].score) or self.select == "last":
            return usual
        best = self.board[0]
        run = Run(entry=best.entry, split=0, fold=self.prepared_experiment.splits[0].fold)
        improving = ran_out(values_to_lower(run.folder(self.folder), self.select))
        return min(_MOST_EPOCHS * usual, max(usual, best.epochs * (2 if improving else 1)))

    def vain(self) -> str:
        """Returns why another round would find nothing better; empty if it might."""
        if self.untried:
            return ""
        tried, most = self.steps[0].candidates, self.most(0)
        if tried < most and (self.rungs == 1 or not self.names):
            epochs = [self.prepared_experiment.recipe.epochs]
            seconds = self.steps[0].seconds + max(cost.of([most], epochs) for cost in (self.expected, self.cost))
            return (
                f"the time was enough for {tried} of {counted(most, 'candidate')} "
                f"(for all, give --minutes {self.minutes_for(seconds)} or more)"
            )
        if not self.names:
            return "nothing is left to try, as learning rate and weight decay were given"
        if self.rungs == 1:
            return "fast tries no more than this"
        if self.round - self.board[0].round < _VAIN_ROUNDS:
            return ""
        vain = sum(each.round > self.board[0].round for each in self.board)
        return f"nothing is left to try, as {counted(vain, 'candidate')} in {_VAIN_ROUNDS} rounds were no better"

    def fresh(self, step: Step) -> list[MethodEntry]:
        """Returns new candidates: the defaults of each method first, later every second one near the best so far."""
        recipe = self.prepared_experiment.recipe
        seed = self.prepared_experiment.experiment.seed + step.round
        everywhere = spread(recipe, self.names, step.candidates, seed=seed)
        defaults = {name: getattr(recipe, name) for name in self.names}
        if not self.board:
            settings = [*([defaults] * len(self.methods)), *everywhere][: step.candidates]
            return [_with(self.methods[place % len(self.methods)], each) for place, each in enumerate(settings)]
        best = self.board[0].entry
        near = spread(recipe, self.names, step.candidates, seed=seed, around=best.recipe)
        by_score = list(dict.fromkeys(each.entry.name for each in self.board))
        better = [
            each for name in by_score[: math.ceil(len(by_score) / 2)] for each in self.methods if each.name == name
        ]
        first = [_with(each, defaults) for each in self.untried[: step.candidates]]
        return first + [
            _with(best, near[place]) if place % 2 == 0 else _with(better[place // 2 % len(better)], everywhere[place])
            for place in range(step.candidates - len(first))
        ]

    @property
    def methods(self) -> tuple[MethodEntry, ...]:
        """The methods to choose from."""
        return self.prepared_experiment.experiment.methods

    @property
    def untried(self) -> list[MethodEntry]:
        """The methods that no candidate has had yet, if time was short."""
        tried = {each.entry.name for each in self.board}
        return [each for each in self.methods if each.name not in tried]

    def trained(self, bases: Sequence[MethodEntry], step: Step, number: int) -> list[Candidate]:
        """Trains candidates on all folds, as far as that is not done, and corrects the cost."""
        entries = [
            replace(base, recipe=base.recipe | {"epochs": step.epochs}, label=f"step{number}-{place}")
            for place, base in enumerate(bases)
        ]
        here = self.prepared_experiment
        here = replace(here, experiment=replace(here.experiment, methods=tuple(entries)))
        runs = [Run(entry=entry, split=each.split, fold=each.fold) for entry in entries for each in here.splits]
        todo = [run for run in runs if read_result(run.folder(self.folder)) is None]
        if todo:
            self.folder.mkdir(parents=True, exist_ok=True)
            began = self.clock()
            self.executor.run(todo, here, self.folder, report=self.report)
            new = [result for run in todo if (result := read_result(run.folder(self.folder))) is not None]
            self.cost = self.cost.measured(new, step.epochs, self.clock() - began)
        return [self.candidate(entry, step, [run for run in runs if run.entry is entry]) for entry in entries]

    def candidate(self, entry: MethodEntry, step: Step, runs: Sequence[Run]) -> Candidate:
        """Returns what the runs of a candidate found; one that failed has no score."""
        results = [read_result(run.folder(self.folder)) or {} for run in runs]
        values = [math.nan if each.get("value") is None else each["value"] for each in results]
        return Candidate(
            entry=entry,
            epochs=step.epochs,
            round=step.round,
            score=float(np.mean(values)),
            seconds=sum(each.get("seconds", 0.0) for each in results),
            predict_seconds=float(np.mean([each.get("predict_seconds", 0.0) for each in results])),
        )

    def ranked(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Returns the candidates, the best first; of equals, the first."""
        return sorted(candidates, key=lambda each: to_lower(each.score, self.select))

    def drop_all_but(self, best: Candidate) -> None:
        """Removes the weights of all candidates but one; their records stay until the end."""
        for path in self.folder.glob(f"runs/*/*/{CHECKPOINT}"):
            if path.parents[1].name != best.entry.label:
                path.unlink(missing_ok=True)


def searched(experiment: Experiment) -> list[str]:
    """Returns the settings that a fit chooses: those that were not given."""
    return [name for name in ("lr", "weight_decay") if name not in experiment.recipe]


def spread(
    recipe: Recipe, names: Sequence[str], count: int, *, seed: int, around: Mapping[str, float] | None = None
) -> list[dict[str, float]]:
    """Returns values of settings, evenly spread on a logarithmic scale by a scrambled Sobol sequence.

    They come from the whole range of each setting, or from a quarter of it around a value.
    """
    if not names:
        return [{}] * count
    ranges = {"lr": (recipe.lr / 10, recipe.lr * 10), "weight_decay": (1e-5, 0.3)}
    points = torch.quasirandom.SobolEngine(len(names), scramble=True, seed=seed).draw(count, dtype=torch.float64)
    low, high = torch.tensor([ranges[name] for name in names], dtype=torch.float64).log().unbind(dim=1)
    if around is not None:
        middle, eighth = torch.tensor([around[name] for name in names], dtype=torch.float64).log(), (high - low) / 8
        low, high = torch.maximum(low, middle - eighth), torch.minimum(high, middle + eighth)
    values = (low + points * (high - low)).exp().tolist()
    return [{name: float(f"{value:.3g}") for name, value in zip(names, each, strict=True)} for each in values]


def shown(entry: MethodEntry) -> dict[str, Any]:
    """Returns the settings of a candidate that a reader wants to know."""
    return {name: value for name, value in entry.recipe.items() if name != "epochs"}


def _with(base: MethodEntry, changes: Mapping[str, float]) -> MethodEntry:
    """Returns a method with searched settings; its own settings stay."""
    return replace(base, recipe={**base.recipe, **changes})
