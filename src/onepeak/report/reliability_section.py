"""The section of a report on whether probabilities are true: reliability, calibration, intervals from few samples."""

from onepeak._listing import counted
from onepeak.data.frame_types import Frame
from onepeak.report.evidence import Evidence
from onepeak.report.figures.reliability import (
    STATEMENTS,
    interactive_reliability,
    left_out,
    printed_reliability,
)
from onepeak.report.section import Chart, Section
from onepeak.report.sureness import FIGURES
from onepeak.report.wide import Cell, WideTable
from onepeak.report.wording import enumerated, spoken
from onepeak.training.calibration import few_samples_note

_SIDES = (" trained", " calibrated")


def reliability_section(evidence: Evidence) -> Section:
    """How often what was called probable came true, as trained and calibrated, with a table of the figures."""
    looks, sureness = evidence.looks, evidence.sureness
    trained = {row: each.trained.reliability for row, each in sureness.items() if each.trained.reliability}
    calibrated = {row: each.calibrated.reliability for row, each in sureness.items() if each.calibrated.reliability}
    rows = tuple(
        (
            Cell(text=row),
            Cell(text=str(len(each.temperatures))),
            Cell(text=f"{sum(each.temperatures) / len(each.temperatures):.2f}"),
            *(Cell(text=f"{side.mean(name):.4f}") for name in FIGURES for side in (each.trained, each.calibrated)),
        )
        for row, each in sureness.items()
    )
    return Section(
        name="reliability",
        title="Are the probabilities true?",
        text="Of all that is called 30 % probable, 30 % should come true: the dashed line. Below it, on the right, a "
        "method is too sure of itself. Once for the most probable label and once for every “label k or below”, as "
        "ordered labels are read; as trained, and calibrated by one temperature per run, fitted to its validation "
        "part, as predictions are shown. That leaves the order of the labels as it is, and so the SOI.",
        charts=tuple(
            Chart(
                name=f"{words}, {side}",
                figure=interactive_reliability(found, looks, statement=statement),
                caption=left_out(found, statement),
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
            caption="Means over runs, on their test parts: expected calibration error (15 bins), ranked probability "
            "score and negative log-likelihood. A run whose validation part sets no temperature keeps 1."
            + _off_by_class(evidence.runs)
            + _few_samples(evidence.runs),
        ),
    )


def _off_by_class(runs: Frame) -> str:
    """A sentence on rows whose posteriors are off by class, which no temperature repairs."""
    counts = runs.loc[runs["off_by_class"], "label"].value_counts(sort=False)
    if counts.empty:
        return ""
    rows = enumerated([f"{spoken(row)} ({counted(number, 'run')})" for row, number in counts.items()])
    return f" The mean calibrated probability of some class is not its share of the validation part: {rows}."


def _few_samples(runs: Frame) -> str:
    """A sentence on how far intervals of these models may be off, where a validation part was small."""
    num_groups, num_samples = min(zip(runs["num_valid_groups"], runs["num_valid"], strict=True))
    note = few_samples_note(num_samples, num_groups)
    return "" if note is None else f" {note[0].upper()}{note[1:]}."
