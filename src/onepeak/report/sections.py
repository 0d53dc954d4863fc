"""The figures of a report in their order: what each shows, for the page and for print."""

from collections.abc import Iterator, Mapping

import numpy as np

from onepeak._listing import counted
from onepeak.metrics.catalog import METRICS
from onepeak.report.evidence import CURVES, Evidence
from onepeak.report.figures.class_errors import interactive_class_errors, printed_class_errors
from onepeak.report.figures.confusion import has_numbers, interactive_confusion, printed_confusions, shares_by_class
from onepeak.report.figures.curves import Curve, interactive_curves, printed_curves, smoothing_window
from onepeak.report.figures.overlay import interactive_overlay, most_common_label, printed_overlay
from onepeak.report.figures.paradoxes import Case, interactive_case, printed_cases
from onepeak.report.figures.tradeoff import interactive_tradeoff, order_limits, pareto_front, printed_tradeoff
from onepeak.report.figures.truth import interactive_truth, printed_truth
from onepeak.report.figures.violations import interactive_violations, mean_count, printed_violations
from onepeak.report.reliability_section import reliability_section
from onepeak.report.section import Card, Chart, Choice, Section
from onepeak.report.thumbnails import pixels, thumbnail
from onepeak.report.wide import Cell, WideTable
from onepeak.report.wording import enumerated, never_said, percent

_MOST_FEATURES = 8
"""Columns of a table that are shown of one row: those in which it is least like the others."""


def sections(evidence: Evidence) -> Iterator[Section]:
    """The sections that there is evidence for."""
    if sum(len(each.mae) for each in evidence.scores.values()) > 1:  # one run alone is no trade-off
        yield _tradeoff(evidence)
    if all(evidence.curves[metric] for metric in CURVES):
        yield _curves(evidence)
    if not evidence.tallies:
        return
    yield _overlay(evidence)
    if evidence.cases:
        yield _paradoxes(evidence)
    yield _violations(evidence)
    if evidence.sureness:
        yield reliability_section(evidence)
    yield _class_errors(evidence)
    yield _confusion(evidence)
    if evidence.distances:
        yield _truth(evidence)


def _tradeoff(evidence: Evidence) -> Section:
    scores = {row: each for row, each in evidence.scores.items() if len(each.mae)}
    front = pareto_front({row: each.mean for row, each in scores.items()})
    if len({scores[row].mean for row in front}) > 1:
        ahead = " No method has both a lower error and a better order than one on the front."
    else:  # alone there is nothing to be ahead of
        has = "has" if len(front) == 1 else "have"
        ahead = f" {enumerated(front)} {has} the lowest error and the best order." if len(front) < len(scores) else ""
    return Section(
        name="tradeoff",
        title="Error against order",
        text="The mean of each method over its runs, with one standard deviation; faint dots are single runs. Up "
        f"and to the left is better.{ahead}{_chance_told(evidence.chance, order_limits(scores))}",
        charts=(Chart(figure=interactive_tradeoff(scores, evidence.looks, chance=evidence.chance)),),
        printed=printed_tradeoff(scores, evidence.looks, chance=evidence.chance),
    )


def _chance_told(chance: float | None, limits: tuple[float, float]) -> str:
    """A sentence on chance, where the axis of order does not reach to it."""
    if chance is None or limits[0] <= chance <= limits[1]:
        return ""
    return f" Chance, {percent(chance)}, lies {'below' if chance < limits[0] else 'above'} what is drawn."


def _curves(evidence: Evidence) -> Section:
    mae, soi, looks = evidence.curves["mae"], evidence.curves["soi_predicted"], evidence.looks
    window = smoothing_window(int(evidence.runs["epochs"].max()))
    smoothed = "" if window == 1 else f", as a moving average over {window} epochs"
    return Section(
        name="curves",
        title="The course of training",
        text=f"Error and order on the validation part after each epoch{smoothed}: the mean over runs, and one standard "
        "deviation around it, as far as half of the runs go. The figures of the table are those of the epoch that each "
        "run kept, on the test part.",
        charts=tuple(_course(metric, found, evidence) for metric, found in evidence.curves.items() if found),
        printed=printed_curves(mae, soi, looks, chance=evidence.chance),
        layout="pair",
    )


def _course(metric: str, curves: Mapping[str, Curve], evidence: Evidence) -> Chart:
    order = metric == "soi_predicted"
    short = {"mae": "MAE", "soi_predicted": "SOI"}.get(metric, metric)
    return Chart(
        name=METRICS[metric].title if metric in METRICS else short.capitalize(),
        figure=interactive_curves(
            curves,
            evidence.looks,
            title=f"validation {short}",
            percent=order,
            chance=evidence.chance if order else None,
        ),
    )


def _overlay(evidence: Evidence) -> Section:
    posteriors = {row: tally.posteriors for row, tally in evidence.tallies.items()}
    counts = {row: tally.confusion.sum(axis=0) for row, tally in evidence.tallies.items()}
    label = most_common_label(posteriors, counts)
    highest = max(float(found.max()) for each in posteriors.values() for found in each.values())
    return Section(
        name="posteriors",
        title="Posteriors of one predicted label",
        text="Posteriors of test samples that were given the same label, laid over each other, their mean in bold. In "
        "order, they fall away from the label on both sides. An empty chart: the method never predicts it.",
        charts=tuple(
            Chart(
                name=row,
                figure=interactive_overlay(
                    each, evidence.classes, evidence.looks, row=row, label=label, highest=highest
                ),
            )
            for row, each in posteriors.items()
        ),
        printed=printed_overlay(posteriors, evidence.classes, evidence.looks, label=label),
        layout="grid",
        choice=Choice(names=evidence.classes, first=label),
    )


def _paradoxes(evidence: Evidence) -> Section:
    shares = ", ".join(f"{row} {percent(tally.paradoxical)}" for row, tally in evidence.tallies.items())
    source = evidence.source
    pictures = [None if case.place is None else source.picture(case.place) for case in evidence.cases]
    rows = [{} if case.place is None else source.features(case.place, most=_MOST_FEATURES) for case in evidence.cases]
    middle = len(evidence.classes) // 2
    lower, name, upper = evidence.classes[middle - 1 : middle + 2]  # of two classes none is paradoxical
    return Section(
        name="paradoxes",
        title="Paradoxical predictions",
        text=f"Where “{name}” is most probable, one would expect “{lower}” or “{upper}” second. Here the second "
        f"most probable label is no neighbour of the first. Share of such predictions: {shares}. The strongest cases, "
        "with what every method says of the same sample:",
        charts=(),
        cards=tuple(
            _card(case, evidence, None if picture is None else thumbnail(picture), features)
            for case, picture, features in zip(evidence.cases, pictures, rows, strict=True)
        ),
        printed=printed_cases(
            evidence.cases,
            [
                features if picture is None else pixels(picture)
                for picture, features in zip(pictures, rows, strict=True)
            ],
            evidence.classes,
            evidence.looks,
        ),
    )


def _card(case: Case, evidence: Evidence, picture: str | None, features: Mapping[str, str]) -> Card:
    names, probs = evidence.classes, case.probs[case.row]
    return Card(
        text=f"{case.row} finds {names[case.first]} most probable ({percent(float(probs[case.first]))}), then "
        f"{names[case.second]} ({percent(float(probs[case.second]))}). The truth is {names[case.label]}.",
        name=f"{case.name}, split {case.split}, fold {case.fold}",
        picture=picture,
        features=", ".join(f"{column} {value}" for column, value in features.items()),
        chart=Chart(figure=interactive_case(case, names, evidence.looks)),
    )


def _violations(evidence: Evidence) -> Section:
    violations = {row: tally.violations for row, tally in evidence.tallies.items()}
    means = ", ".join(f"{row} {mean_count(each):.2f}" for row, each in violations.items())
    return Section(
        name="violations",
        title="Pairs out of order",
        text=f"How many of the {len(evidence.classes) - 1} adjacent pairs do not fall away from the predicted label, "
        f"as a share of all test predictions. On average: {means}.",
        charts=(Chart(figure=interactive_violations(violations, evidence.looks)),),
        printed=printed_violations(violations, evidence.looks),
    )


def _class_errors(evidence: Evidence) -> Section:
    confusions = {row: tally.confusion for row, tally in evidence.tallies.items()}
    return Section(
        name="class-errors",
        title="Error of each class",
        text="Where on the scale the errors lie. The ends of a scale and rare classes are often the hardest.",
        charts=(Chart(figure=interactive_class_errors(confusions, evidence.classes, evidence.looks)),),
        printed=printed_class_errors(confusions, evidence.classes, evidence.looks),
    )


def _confusion(evidence: Evidence) -> Section:
    classes, confusions = evidence.classes, {row: tally.confusion for row, tally in evidence.tallies.items()}
    highest = max(float(np.nanmax(shares_by_class(each))) for each in confusions.values())
    return Section(
        name="confusion",
        title="Confusion",
        text="What each true class is taken for, over all test parts together; each line sums to "
        "100 %." + (" Where there is no number, it never happened." if has_numbers(len(classes)) else ""),
        charts=tuple(
            Chart(
                name=row,
                figure=interactive_confusion(each, classes, highest=highest),
                caption=never_said(each, classes),
            )
            for row, each in confusions.items()
        ),
        printed=printed_confusions(confusions, classes),
        layout="grid",
    )


def _truth(evidence: Evidence) -> Section:
    best = evidence.bayes
    bound = (
        ""
        if best is None
        else f" Who knew the true posteriors would reach an MAE of {best.mae:.3f} and an accuracy of "
        f"{percent(best.accuracy)} on these samples: the Bayes error, which no method can pass."
    )
    rows = tuple(
        (
            Cell(text=row),
            Cell(text=str(len(each.variation))),
            Cell(text=f"{each.variation.mean():.4f}"),
            Cell(text=f"{each.divergence.mean():.4f}"),
        )
        for row, each in evidence.distances.items()
    )
    return Section(
        name="truth",
        title="Distance from the true posterior",
        text="These data are generated, so the true posterior of every sample is known. Total variation is the "
        f"probability that a method puts in the wrong place; the divergence is in nats.{bound}",
        charts=(Chart(figure=interactive_truth(evidence.distances, evidence.looks)),),
        printed=printed_truth(evidence.distances, evidence.looks),
        table=WideTable(
            title="Distance from the true posterior",
            header=("method", "runs", "total variation ↓", "Kullback-Leibler ↓"),
            rows=rows,
            caption="Means over the test parts of "
            f"{counted(sum(len(each.variation) for each in evidence.distances.values()), 'run')}.",
        ),
    )
