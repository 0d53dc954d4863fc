"""Which paradoxical predictions a report shows, and what every method says of the same samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from onepeak.data.frame_types import Frame
from onepeak.errors import InputError
from onepeak.experiment.records import read_predictions
from onepeak.report.figures.paradoxes import Case
from onepeak.report.source import Source
from onepeak.report.tally import Suspect, Tally

MOST_CASES = 6


def choose_suspects(tallies: Mapping[str, Tally], *, most: int = MOST_CASES) -> list[tuple[str, Suspect]]:
    """The strongest of each method first, then the strongest of all; no sample twice.

    Args:
        tallies: What each row says.
        most: How many to choose.

    Returns:
        Rows and their suspects, the strongest first.
    """
    ranked = sorted(
        ((place, row, suspect) for row, tally in tallies.items() for place, suspect in enumerate(tally.suspects)),
        key=lambda each: (each[0] > 0, -each[2].strength),
    )
    chosen: dict[int, tuple[str, Suspect]] = {}
    for _, row, suspect in ranked:
        if len(chosen) < most:
            chosen.setdefault(suspect.item, (row, suspect))
    return sorted(chosen.values(), key=lambda each: -each[1].strength)


def choose_cases(tallies: Mapping[str, Tally], runs: Frame, source: Source) -> tuple[Case, ...]:
    """The chosen predictions with all methods' posteriors of the same samples.

    Args:
        tallies: What each row says.
        runs: The runs, as `read_results` gives them.
        source: The data.
    """
    return tuple(_case(row, suspect, tallies, runs, source) for row, suspect in choose_suspects(tallies))


def _case(row: str, suspect: Suspect, tallies: Mapping[str, Tally], runs: Frame, source: Source) -> Case:
    same = runs[(runs["split"] == suspect.split) & (runs["fold"] == suspect.fold) & runs["label"].isin(list(tallies))]
    said = {label: _said(folder, suspect.item) for label, folder in zip(same["label"], same["folder"], strict=True)}
    found = {label: each for label, each in said.items() if each is not None}
    accused = found[row]
    first, second = _two_highest(accused["log_probs"])
    label, path = int(accused["label"]), accused["path"]
    place = source.place(suspect.item, path, label)
    truth = None if place is None else source.true_log_probs(np.array([place]))
    return Case(
        row=row,
        split=suspect.split,
        fold=suspect.fold,
        place=place,
        label=label,
        first=first,
        second=second,
        probs={label: np.exp(each["log_probs"]) for label, each in found.items()},
        predicted={label: int(each["predicted"]) for label, each in found.items()},
        truth=None if truth is None else truth[0],
        name=source.name(suspect.item, path, label),
    )


def _said(folder: str, item: int) -> dict[str, Any] | None:
    """What one run says of one sample; nothing where it is not in its test part, or cannot be read."""
    try:
        found = read_predictions(folder, columns=("item", "path", "label", "predicted", "log_probs"), part="test")
    except InputError:
        return None  # the notes of the report say so
    places = np.flatnonzero(found["item"] == item)
    return {name: column[places[0]] for name, column in found.items()} if len(places) else None


def _two_highest(log_probs: Any) -> tuple[int, int]:
    """The most probable label and the second; of equals the lowest first, and the nearest to it second."""
    first = int(np.argmax(log_probs))
    others = [label for label in range(len(log_probs)) if label != first]
    return first, min(others, key=lambda label: (-log_probs[label], abs(label - first)))
