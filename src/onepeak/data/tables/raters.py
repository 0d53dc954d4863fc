"""Several labels for one sample: those of several raters, or a probability for each class, as a distribution."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from onepeak._core.imports import Frame
from onepeak._core.wording import counted, listed
from onepeak.data.manifest import LabelDistribution
from onepeak.data.order import Order, OrderedLabels, declared_order, label_key, read_labels, shown_order
from onepeak.data.tables.cells import number_cells, present_text, texts_of
from onepeak.data.tables.encode import cell_fault
from onepeak.data.tables.faults import FEW, Fault, missing_cells
from onepeak.errors import InputError

Read: TypeAlias = tuple[OrderedLabels | None, LabelDistribution | None, list[Fault]]
_MEDIAN = "training minimises the expected loss, and the label of a sample is the median (of two classes, the lower)"


def read_ratings(frame: Frame, *, order: Order | None, rows: Sequence[Hashable]) -> Read:
    """Reads one column per rater, who may have left cells empty: each rating of a sample counts the same.

    Returns the medians of the ratings (of two, the lower) as the labels of the samples, and their distributions.
    """
    raters = tuple(frame.columns)
    declared = set() if order is None else set(map(label_key, declared_order(order)))
    cells = {
        name: [text if present_text(text) or label_key(text) in declared else "" for text in texts_of(frame[name])]
        for name in raters
    }
    given = [(row, rater) for rater, name in enumerate(raters) for row, text in enumerate(cells[name]) if text]
    faults = missing_cells(
        f"a label in one of {listed(raters)}", ["".join(texts) for texts in zip(*cells.values(), strict=True)], rows
    )
    if not given:
        return None, None, faults
    written = [frame[name].tolist() for name in raters]
    read, wrong = read_labels(
        [written[rater][row] for row, rater in given], order=order, rows=[rows[row] for row, _ in given]
    )
    faults += [replace(fault, indices=tuple(sorted({given[n][0] for n in fault.indices}))) for fault in wrong]
    if read is None:
        return None, None, faults
    ratings = np.full((len(frame), len(raters)), -1, dtype=np.int64)
    ratings[tuple(np.array(given).T)] = read.labels
    votes = (ratings[:, :, None] == np.arange(len(read.classes))).sum(axis=1).astype(np.float64)
    found = LabelDistribution.of(votes, columns=raters, ratings=ratings)
    pairs = list(combinations(ratings.T, 2))
    shared = sum(int(((one >= 0) & (two >= 0)).sum()) for one, two in pairs)
    same = sum(int(((one >= 0) & (one == two)).sum()) for one, two in pairs)
    agree = f"of whom two agree on {same / shared:.1%} of samples" if shared else "none of a sample in common"
    notes = (f"labels of {counted(len(raters), 'rater')} ({listed(raters)}), {agree}; {_MEDIAN}",)
    labels = np.where(votes.any(axis=1), found.medians, -1)
    return OrderedLabels(labels=labels, classes=read.classes, notes=(*notes, *read.notes)), found, faults


def read_probabilities(frame: Frame, *, order: Order | None, rows: Sequence[Hashable]) -> Read:
    """Reads one column per class, lowest first: probabilities, or any numbers in proportion, such as counts of votes.

    Returns the medians as the labels of the samples, and the distributions.
    """
    names = tuple(map(str, frame.columns))
    classes = names if order is None else declared_order(order)
    if len(classes) != len(names):
        raise InputError(
            f"`label_probs` must name one column for each of the {counted(len(classes), 'class')} of `order`, got "
            f"{len(names)}: {listed(names)}.",
            argument="label_probs",
        )
    columns, faults = [], []
    for name in names:
        values, wrong = number_cells(frame[name])
        faults += [replace(cell_fault(frame[name], wrong), advice="Correct these cells")] if wrong else []
        columns.append(values)
    votes = np.stack(columns, axis=1)
    bad = np.flatnonzero(~((votes >= 0).all(axis=1) & (votes.sum(axis=1) > 0))).tolist()
    if bad and not faults:
        shown = listed((f"{votes[row].tolist()} (row {rows[row]})" for row in bad), limit=FEW)
        sentence = f"The columns {listed(names)} must hold numbers >= 0 that are not all 0, got {shown}"
        reason = "no probabilities of the classes"
        faults.append(Fault(indices=tuple(bad), sentence=sentence, advice="Correct them", reason=reason))
    votes[bad] = np.eye(len(names))[0]  # these rows are left out, or an error
    found = LabelDistribution.of(votes, columns=names)
    notes = (f"labels are probabilities in {listed(names)}; {_MEDIAN}", f"order: {shown_order(classes)}")
    return OrderedLabels(labels=found.medians, classes=classes, notes=notes), found, faults
