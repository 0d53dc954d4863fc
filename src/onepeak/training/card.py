"""The card of a model, `README.md` in its folder: what it was made from, what it is worth, and where its limits are."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak._core.files import write_text_in_one_step
from onepeak.data.manifest import Manifest
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import ALPHA, few_samples_note
from onepeak.training.model_files import ModelDescription, weights_id

CARD = "README.md"
_SHOWN = ("mae", "accuracy", "qwk", "soi_predicted", "unimodal")


def write_card(
    folder: Path,
    description: ModelDescription,
    result: dict[str, Any],
    test: Predictions | None = None,
    manifest: Manifest | None = None,
) -> None:
    """Writes the card of a model whose files are there."""
    lines = [*_made_of(description, result), *_figures(description, result), *_by_class(description, test)]
    lines += [*_by_subgroup(test, manifest), *_limits(description, result), *_use(folder)]
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
    if description.network.mean is not None:
        yield f"- pixels: mean {description.network.mean}, deviation {description.network.std}"
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
    yield from ("", "| class | test samples | right | mean error |", "|---|---|---|---|")
    yield from _rows(test, test.truth.numpy(), description.classes)


def _by_subgroup(test: Predictions | None, manifest: Manifest | None) -> Iterator[str]:
    if test is None or manifest is None or manifest.strata is None:
        return
    values = np.array([manifest.strata[item] for item in test.items])
    names = sorted(set(values.tolist()))
    yield from ("", "| subgroup | test samples | right | mean error |", "|---|---|---|---|")
    yield from _rows(test, np.array([names.index(value) for value in values]), [str(name) for name in names])


def _rows(test: Predictions, of: npt.NDArray[np.int64], names: Sequence[str]) -> Iterator[str]:
    errors = (test.predicted_index - test.truth).abs().numpy()
    for place, name in enumerate(names):
        own = errors[of == place]
        if len(own):
            yield f"| {name} | {len(own)} | {np.mean(own == 0):.0%} | {np.mean(own):.2f} |"


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
