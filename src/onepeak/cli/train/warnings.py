"""Warnings about figures of `train` that mean little."""

from typing import Any

from onepeak._core.wording import counted, listed
from onepeak.errors import Note, in_documentation
from onepeak.metrics.functional import side_order_chance
from onepeak.networks.own_backbone import is_own
from onepeak.training.calibration import few_samples_note, frequency_note
from onepeak.training.convergence import hardly_trained, no_better_than_constant, ran_out

_FEW = 20
"""Of a test part."""

_MANY_CLASSES = 20
"""With so many neighbours stand in for each other, and that some are never the answer is nothing to act on."""


def training_warnings(result: dict[str, Any], num_classes: int, values: list[float]) -> list[Note]:
    """Why the figures may say little of the method, and intervals of the model little of new samples."""
    recipe, sizes, select = result["recipe"], result["sizes"], result["selected_by"]
    chance = side_order_chance(num_classes, decision=result["decision"])
    order, best_epoch = result["metrics"]["test"]["soi_predicted"], result["best_epoch"]
    notes = []
    if hardly_trained(best_epoch, recipe["epochs"], select, order=order, chance=chance):
        text = (
            f"epoch {best_epoch + 1} of {result['epochs']} was kept, by the validation {select}: the network is hardly "
            "trained. Another --select (rps, last), another --lr or a stronger network may help"
        )
        notes.append(Note("hardly-trained", text))
    elif order <= chance < 1:  # with two classes every posterior has one peak
        text = (
            f"the SOI is no better than that of random posteriors ({chance:.1%}): the training was too short, or the "
            f"method does not make posteriors consistent. Methods that do: {in_documentation('choose')}"
        )
        notes.append(Note("no-order", text))
    notes += constant_notes(result)
    if len(values) == recipe["epochs"] and ran_out(values):
        text = f"the validation {select} was still improving at the last epoch: train longer (--epochs)"
        notes.append(Note("still-improving", text))
    if num_classes < _MANY_CLASSES and (silent := result["never_predicted"]):
        names = listed((f"{name} ({count})" for name, count in silent.items()), limit=5)
        rare = min(silent.values()) * num_classes < sizes["valid"]
        advice = ". Try --class-weight balanced" if rare and result["class_weight"] is None else ""
        text = f"never predicted, though the validation part has samples of it: {names}{advice}"
        notes.append(Note("never-predicted", text))
    if gap := result["frequency_gap"]:
        notes.append(
            frequency_note(
                **gap,
                part="the validation part",
                weighted=recipe["balanced"] or recipe["class_weight"] is not None,
                one_peaked=result["metrics"]["valid"]["unimodal"],
                reason="the training may be too short",
            )
        )
    if sizes["test"] < _FEW:
        text = f"only {counted(sizes['test'], 'test sample')}: the test figures are uncertain"
        notes.append(Note("few-test-samples", text))
    few = few_samples_note(sizes["valid"], (result["num_groups"] or sizes)["valid"])
    return notes if few is None else [*notes, few]


def constant_notes(result: dict[str, Any]) -> list[Note]:
    """A note where the model is no better than a constant prediction, in the validation or else in the test part."""
    constant = result["constant"]
    for part, title in (("valid", "validation"), ("test", "test")):
        error, always = result["metrics"][part]["mae"], constant[f"{part}_mae"]
        if no_better_than_constant(error, always):
            text = (
                f"the {title} MAE, {error:.3f}, is no better than always predicting {constant['label']!r} "
                f"({always:.3f}). More samples, more epochs (--epochs), smaller batches (--batch-size), "
                "another --lr or a stronger network may help"
            )
            return [Note("no-better-than-constant", text)]
    return []


_LEARNS_ALONE = ("small", "mlp")
"""Backbones that are made to begin with nothing; what the user's own begin with is his to say."""


def first_weights_notes(backbone: str, weights: str | None) -> tuple[Note, ...]:
    """A note where a large network has to learn to see from the data at hand alone.

    Example:
        >>> first_weights_notes("small", None)
        ()
        >>> first_weights_notes("resnet18", None)[0][:44]
        'resnet18 starts from random weights: give pr'
    """
    if weights is not None or backbone in _LEARNS_ALONE or is_own(backbone):
        return ()
    text = (
        f"{backbone} starts from random weights: give pretrained ones (--weights pretrained, or a file), or expect "
        f"much larger errors on photographs. How to get them: {in_documentation('images')}"
    )
    return (Note("random-weights", text),)
