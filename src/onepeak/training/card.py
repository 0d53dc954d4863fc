"""The card of a model, `README.md` in its folder: what it was made from, what it is worth, and where its limits are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onepeak._core.files import write_text_in_one_step
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import ALPHA, few_samples_note
from onepeak.training.evaluate import figures_by
from onepeak.training.model_files import ModelDescription, weights_id

CARD = "README.md"
_SHOWN = ("mae", "accuracy", "qwk", "soi_predicted", "unimodal")


def write_card(
    folder: Path,
    description: ModelDescription,
    result: dict[str, Any],
    test: Predictions | None = None,
) -> None:
    """Writes the card of a model whose files are there."""
    lines = [*_made_of(description, result), *_figures(description, result), *_by_class(description, test)]
    lines += [*_by_subgroup(result), *_limits(description, result), *_use(folder)]
    write_text_in_one_step(folder / CARD, "\n".join([*lines, ""]))


def _made_of(description: ModelDescription, result: dict[str, Any]) -> Iterator[str]:
    network = description.network.backbone
    weights, sizes = result.get("weights"), result.get("sizes")
    yield f"# {description.method} on {description.data}"
    yield ""
    yield f"Predicts one of {len(description.classes)} ordered classes: {', '.join(description.classes)}."
    yield ""
    yield f"- data: {description.data}" + (
        f", {' / '.join(str(sizes[part]) for part in ('train', 'valid', 'test'))} samples to train / validate / "
        f"test by the protocol {result['protocol']}"
        if sizes
        else ""
    )
    many = f"the mean of {description.members} networks, " if description.members > 1 else ""
    frozen = ", frozen" if result.get("frozen") else ""
    yield f"- network: {many}{network}, {f'weights {weights}{frozen}' if weights else 'random initial weights'}"
    if description.flips:
        yield "- prediction: the mean for each image and its mirror image"
    if description.network.mean is not None:
        yield f"- pixels: mean {description.network.mean}, deviation {description.network.std}"
    if licence := result.get("licence"):
        yield f"- licence: {licence}"
    yield f"- made with: {', '.join(f'{name} {version}' for name, version in description.versions.items())}"


def _figures(description: ModelDescription, result: dict[str, Any]) -> Iterator[str]:
    parts = [part for part in ("valid", "test") if part in description.metrics]
    names = [name for name in _SHOWN if all(name in description.metrics[part] for part in parts)]
    yield from ("", "## Figures", "", f"| part | {' | '.join(names)} |", f"|---|{'---|' * len(names)}")
    for part in parts:
        yield f"| {part} | {' | '.join(f'{description.metrics[part][name]:.3f}' for name in names)} |"
    if constant := result.get("constant"):
        yield f"| test, always {constant['label']!r} | {constant['test_mae']:.3f} |{' |' * (len(names) - 1)}"


def _by_class(description: ModelDescription, test: Predictions | None) -> Iterator[str]:
    if test is None:
        return
    found = figures_by(test, [description.classes[label] for label in test.truth.tolist()])
    yield from _rows("class", {name: found[name] for name in description.classes if name in found})


def _by_subgroup(result: dict[str, Any]) -> Iterator[str]:
    for column, found in result.get("subgroups", {}).items():
        yield from _rows(column, found)


def _rows(title: str, found: dict[str, dict[str, float]]) -> Iterator[str]:
    yield from ("", f"| {title} | test samples | right | mean error |", "|---|---|---|---|")
    for name, each in found.items():
        yield f"| {name} | {each['samples']} | {each['accuracy']:.0%} | {each['mae']:.2f} |"


def _limits(description: ModelDescription, result: dict[str, Any]) -> Iterator[str]:
    calibration = description.calibration
    yield from ("", "## Limits", "")
    yield "- It knows only images or rows like those it was trained on: others get a prediction too."
    if calibration is not None:
        yield f"- Temperature of the posteriors: {calibration.temperature:.2f}, from {calibration.num_samples} samples."
        if note := calibration.note:
            yield f"- {note[:1].upper()}{note[1:]}."
        if note := few_samples_note(calibration.num_samples, (result.get("num_groups") or {}).get("valid")):
            yield f"- {note[:1].upper()}{note[1:]}."
        if covered := result.get("calibration", {}).get("test", {}).get("coverage"):
            yield f"- Its {1 - ALPHA:.0%} intervals hold {covered:.0%} of the test samples."
    if silent := result.get("never_predicted"):
        yield f"- Never predicted in validation: {', '.join(silent)}."
    yield from (f"- {note}" for note in result.get("notes", []))


def _use(folder: Path) -> Iterator[str]:
    yield from ("", "## Use", "", f"Its id is `{weights_id(folder)}`, from a hash of the weights.", "")
    yield from ("```", "onepeak predict MODEL INPUTS", "onepeak serve MODEL", "```")
