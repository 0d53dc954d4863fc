"""The figures of a report in their order, with their texts, for the page and for print."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from onepeak._core.imports import Frame
from onepeak._core.wording import counted, listed
from onepeak.metrics.catalog import METRICS
from onepeak.report.figures.canvas import Interactive, Printed
from onepeak.report.figures.confusion import (
    has_numbers,
    interactive_class_errors,
    interactive_confusion,
    printed_class_errors,
    printed_confusions,
    shares_by_class,
)
from onepeak.report.figures.curves import Curve, interactive_curves, printed_curves, smoothing_window
from onepeak.report.figures.overlay import interactive_overlay, most_common_label, printed_overlay
from onepeak.report.figures.paradoxes import Case, interactive_case, printed_cases
from onepeak.report.figures.reliability import FEWEST, STATEMENTS, interactive_reliability, printed_reliability
from onepeak.report.figures.tradeoff import interactive_tradeoff, limits_of, pareto_front, printed_tradeoff
from onepeak.report.figures.truth import interactive_truth, printed_truth
from onepeak.report.run_data import CURVES, FIGURES, RunData
from onepeak.report.sentences import display_name, enumerated, percent
from onepeak.report.source import pixels, thumbnail
from onepeak.report.tables import WideTable, cells
from onepeak.training.calibration import few_samples_note
from onepeak.training.evaluate import EXPECTED_MAE

Layout = Literal["wide", "pair", "grid"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """One interactive figure."""

    figure: Interactive
    name: str = ""
    """Above it, where several stand beside each other."""
    caption: str = ""
    """Below it, where there is something to say of this one."""

    @property
    def json(self) -> str:
        """As a script element of the page holds it, which only "<" could end early."""
        text: str = self.figure.to_json().replace("<", "\\u003c")
        return text


@dataclass(frozen=True, kw_only=True, eq=False)
class Card:
    """One paradoxical prediction."""

    text: str
    name: str
    image: str | None
    """As a data address."""
    features: str
    chart: Chart


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """One figure, or several that belong together, with what they show in words."""

    name: str
    """Of the files for print."""
    title: str
    text: str
    charts: tuple[Chart, ...]
    printed: Printed
    layout: Layout = "wide"
    choices: tuple[str, ...] = ()
    """Predicted classes of a slider."""
    first_choice: int = 0
    cards: tuple[Card, ...] = ()
    table: WideTable | None = None


_MOST_FEATURES = 8
"""Columns of a table that are shown of one row."""


def sections(data: RunData) -> Iterator[Section]:
    """The sections that there is evidence for."""
    if sum(len(each.mae) for each in data.scores.values()) > 1:  # one run alone is no trade-off
        yield _tradeoff(data)
    if all(data.curves[metric] for metric in CURVES):
        yield _curves(data)
    if not data.predictions:
        return
    yield _overlay(data)
    if data.cases:
        yield _paradoxes(data)
    if data.calibration:
        yield reliability_section(data)
    yield _class_errors(data)
    yield _confusion(data)
    if data.distances:
        yield _truth(data)


def _tradeoff(data: RunData) -> Section:
    scores = {row: each for row, each in data.scores.items() if len(each.mae)}
    front = pareto_front({row: each.mean for row, each in scores.items()})
    if len({scores[row].mean for row in front}) > 1:
        ahead = " No method beats one on the front in both error and consistency."
    else:  # alone there is nothing to be ahead of
        has = "has" if len(front) == 1 else "have"
        ahead = (
            f" {enumerated(front)} {has} the lowest error and the best consistency." if len(front) < len(scores) else ""
        )
    return Section(
        name="tradeoff",
        title="Error and consistency",
        text="Mean and standard deviation of each method over its runs; faint dots are single runs. Up and to the left "
        f"is better.{ahead}{_chance_told(data.chance, limits_of(scores))}",
        charts=(Chart(figure=interactive_tradeoff(scores, data.looks, chance=data.chance)),),
        printed=printed_tradeoff(scores, data.looks, chance=data.chance),
    )


def _chance_told(chance: float | None, limits: tuple[float, float]) -> str:
    """A sentence on chance, where the axis of order does not reach to it."""
    if chance is None or limits[0] <= chance <= limits[1]:
        return ""
    return f" Random guessing, {percent(chance)}, is {'below' if chance < limits[0] else 'above'} the axis."


def _curves(data: RunData) -> Section:
    mae, soi, looks = data.curves["mae"], data.curves["soi_predicted"], data.looks
    window = smoothing_window(int(data.runs["epochs"].max()))
    smoothed = "" if window == 1 else f", as a moving average over {window} epochs"
    return Section(
        name="curves",
        title="Training curves",
        text=f"Error and consistency on the validation part after each epoch{smoothed}: mean and standard deviation "
        "over runs, up to the last epoch that half the runs reached. The table shows the test part at the epoch "
        "that each run kept.",
        charts=tuple(_course(metric, found, data) for metric, found in data.curves.items() if found),
        printed=printed_curves(mae, soi, looks, chance=data.chance),
        layout="pair",
    )


def _course(metric: str, curves: Mapping[str, Curve], data: RunData) -> Chart:
    order = metric == "soi_predicted"
    short = {"mae": "MAE", "soi_predicted": "SOI", EXPECTED_MAE: "expected MAE"}.get(metric, metric)
    return Chart(
        name=METRICS[metric].title if metric in METRICS else short[0].upper() + short[1:],
        figure=interactive_curves(
            curves,
            data.looks,
            title=f"validation {short}",
            percent=order,
            chance=data.chance if order else None,
        ),
    )


def _overlay(data: RunData) -> Section:
    posteriors = {row: each.posteriors for row, each in data.predictions.items()}
    counts = {row: each.confusion.sum(axis=0) for row, each in data.predictions.items()}
    label = most_common_label(posteriors, counts)
    highest = max(float(found.max()) for each in posteriors.values() for found in each.values())
    return Section(
        name="posteriors",
        title="Posteriors by predicted class",
        text="Posteriors of test samples with the same predicted class, with their mean in bold. A consistent "
        "posterior falls on both sides of its class. An empty chart: the method never predicts this class.",
        charts=tuple(
            Chart(
                name=row,
                figure=interactive_overlay(each, data.classes, data.looks, row=row, label=label, highest=highest),
            )
            for row, each in posteriors.items()
        ),
        printed=printed_overlay(posteriors, data.classes, data.looks, label=label),
        layout="grid",
        choices=data.classes,
        first_choice=label,
    )


def _paradoxes(data: RunData) -> Section:
    shares = ", ".join(
        f"{row} {percent(each.paradoxical)} ({percent(each.noticeably_paradoxical)})"
        for row, each in data.predictions.items()
    )
    source = data.source
    images = [None if case.place is None else source.image(case.place) for case in data.cases]
    whole = [{} if case.place is None else source.features(case.place) for case in data.cases]
    rows = [dict(list(row.items())[:_MOST_FEATURES]) for row in whole]
    middle, known = len(data.classes) // 2, any(case.truth is not None for case in data.cases)
    lower, name, upper = data.classes[middle - 1 : middle + 2]  # of two classes none is paradoxical
    return Section(
        name="paradoxes",
        title="Paradoxical predictions",
        text=f"If “{name}” is most probable, “{lower}” or “{upper}” should come second. Here the two most probable "
        "classes are not neighbours. Share of such predictions (in brackets: with a second class of at least 5 %): "
        f"{shares}. The strongest cases, with every method's posterior for the same sample"
        + ("; the grey area is the true posterior:" if known else ":"),
        charts=(),
        cards=tuple(
            _card(case, data, None if image is None else thumbnail(image), features)
            for case, image, features in zip(data.cases, images, rows, strict=True)
        ),
        printed=printed_cases(
            data.cases,
            [features if image is None else pixels(image) for image, features in zip(images, rows, strict=True)],
            data.classes,
            data.looks,
        ),
    )


def _card(case: Case, data: RunData, image: str | None, features: Mapping[str, str]) -> Card:
    names, predicted = data.classes, case.predicted[case.row]
    first, second, chosen = (
        f"{names[label]} ({percent(float(case.probs[case.row][label]))})"
        for label in (case.first, case.second, predicted)
    )
    if predicted == case.first:
        told = f"{case.row} predicts {first}, then {second}"
    else:  # decided by the median or the mean
        told = f"{case.row} finds {first} most probable, then {second}, but predicts {chosen}"
    return Card(
        text=f"{told}. The true class is {names[case.label]}.",
        name=f"{case.name}, split {case.split}, fold {case.fold}",
        image=image,
        features=", ".join(f"{column} {value}" for column, value in features.items()),
        chart=Chart(figure=interactive_case(case, names, data.looks)),
    )


def _class_errors(data: RunData) -> Section:
    confusions = {row: each.confusion for row, each in data.predictions.items()}
    return Section(
        name="class-errors",
        title="Error of each class",
        text="Mean absolute error of each true class, over all test parts.",
        charts=(Chart(figure=interactive_class_errors(confusions, data.classes, data.looks)),),
        printed=printed_class_errors(confusions, data.classes, data.looks),
    )


def _confusion(data: RunData) -> Section:
    classes, confusions = data.classes, {row: each.confusion for row, each in data.predictions.items()}
    highest = max(float(np.nanmax(shares_by_class(each))) for each in confusions.values())
    return Section(
        name="confusion",
        title="Confusion matrices",
        text="Predicted classes of each true class over all test parts; each row sums to "
        "100 %." + (" Empty cells are zero." if has_numbers(len(classes)) else ""),
        charts=tuple(
            Chart(
                name=row,
                figure=interactive_confusion(each, classes, highest=highest),
                caption=never_predicted_sentence(each, classes),
            )
            for row, each in confusions.items()
        ),
        printed=printed_confusions(confusions, classes),
        layout="grid",
    )


def _truth(data: RunData) -> Section:
    best = data.bayes
    bound = (
        ""
        if best is None
        else f" The best possible model reaches an MAE of {best.mae:.3f} and an accuracy of "
        f"{percent(best.accuracy)} on these samples (the Bayes error)."
    )
    rows = tuple(
        cells(row, len(each.variation), f"{each.variation.mean():.4f}", f"{each.divergence.mean():.4f}")
        for row, each in data.distances.items()
    )
    return Section(
        name="truth",
        title="Distance from the true posterior",
        text="These data are synthetic, so the true posterior of every sample is known. Total variation is the "
        "probability that would have to move to other classes to make a method's posterior the true one; the "
        f"divergence is in nats.{bound}",
        charts=(Chart(figure=interactive_truth(data.distances, data.looks)),),
        printed=printed_truth(data.distances, data.looks),
        table=WideTable(
            title="Distance from the true posterior",
            header=("method", "runs", "total variation ↓", "Kullback-Leibler ↓"),
            rows=rows,
            caption="Means over the test parts of "
            f"{counted(sum(len(each.variation) for each in data.distances.values()), 'run')}.",
        ),
    )


_SIDES = (" trained", " calibrated")


def reliability_section(data: RunData) -> Section:
    """Reliability diagrams, as trained and calibrated, with a table of the figures."""
    looks, calibration = data.looks, data.calibration
    trained = {row: each.trained.reliability for row, each in calibration.items() if each.trained.reliability}
    calibrated = {row: each.calibrated.reliability for row, each in calibration.items() if each.calibrated.reliability}
    rows = tuple(
        cells(
            row,
            len(each.temperatures),
            f"{sum(each.temperatures) / len(each.temperatures):.2f}",
            *(f"{side.mean(name):.4f}" for name in FIGURES for side in (each.trained, each.calibrated)),
        )
        for row, each in calibration.items()
    )
    return Section(
        name="reliability",
        title="Calibration of probabilities",
        text="Events predicted at 30 % should happen 30 % of the time: the dashed line. Below it, a method is "
        "overconfident. One pair of charts is for the most probable class, one for every event “class k or below”; "
        "each as trained and as calibrated with one temperature per run, fitted on its validation part. Predictions "
        "use the calibrated posteriors. Calibration does not change the SOI. Points of fewer than "
        f"{FEWEST} statements are not shown, unless a method has no others.",
        charts=tuple(
            Chart(
                name=f"{words}, {side}",
                figure=interactive_reliability(found, looks, statement=statement),
            )
            for statement, words in STATEMENTS.items()
            for side, found in (("as trained", trained), ("calibrated", calibrated))
        ),
        printed=printed_reliability(trained, calibrated, looks),
        layout="pair",
        table=WideTable(
            title="Calibration",
            header=("method", "runs", "temperature", *(f"{name} ↓{side}" for name in FIGURES for side in _SIDES)),
            rows=rows,
            caption="Means over runs on their test parts: expected calibration error (15 bins), ranked probability "
            "score and negative log-likelihood. A run without a fitted temperature keeps 1."
            + _off_by_class(data.runs)
            + _few_samples(data.runs),
        ),
    )


def _off_by_class(runs: Frame) -> str:
    """A sentence on rows whose posteriors are off by class, which no temperature repairs."""
    counts = runs.loc[runs["off_by_class"], "label"].value_counts(sort=False)
    if counts.empty:
        return ""
    rows = enumerated([f"{display_name(row)} ({counted(number, 'run')})" for row, number in counts.items()])
    return f" The mean calibrated probability of a class differs from its share of the validation part: {rows}."


def _few_samples(runs: Frame) -> str:
    """A sentence on how far intervals of these models may be off, where a validation part was small."""
    num_groups, num_samples = min(zip(runs["num_valid_groups"], runs["num_valid"], strict=True))
    note = few_samples_note(num_samples, num_groups)
    return "" if note is None else f" {note[0].upper()}{note[1:]}."


def never_predicted_sentence(confusion: npt.NDArray[np.int64], classes: Sequence[str]) -> str:
    """A sentence on classes that are never predicted, though test samples have them; empty if there are none.

    Example:
        >>> never_predicted_sentence(np.array([[3, 1, 0], [2, 2, 0], [0, 5, 0]]), ["low", "middle", "high"])
        'Never predicted: high (5 samples).'
    """
    counts, answers = confusion.sum(axis=1), confusion.sum(axis=0)
    silent = [
        f"{name} ({counted(int(count), 'sample')})"
        for name, count, count_predicted in zip(classes, counts, answers, strict=True)
        if count and not count_predicted
    ]
    return f"Never predicted: {listed(silent, limit=5)}." if silent else ""
