"""What `train` says of its figures where they may say little."""

from typing import Any

from onepeak._listing import counted, listed
from onepeak.errors import in_documentation
from onepeak.metrics.functional import side_order_chance
from onepeak.training.calibration import few_samples_note
from onepeak.training.frequency_gap import frequency_note
from onepeak.training.kept_epoch import hardly_trained, no_better_than_constant
from onepeak.training.ran_out import ran_out

_FEW = 20
"""Of a test part."""

_MANY_CLASSES = 20
"""With so many neighbours stand in for each other, and that some are never the answer is nothing to act on."""


def doubts(result: dict[str, Any], num_classes: int, values: list[float]) -> list[str]:
    """Why the figures may say little of the method, and intervals of the model little of new samples.

    Args:
        result: The run's record.
        num_classes: Of the data.
        values: What chose the epoch, after every one, see `values_to_lower`.
    """
    found, chance = [], side_order_chance(num_classes)
    order, kept = result["metrics"]["test"]["soi_predicted"], result["best_epoch"]
    if hardly_trained(kept, result["recipe"]["epochs"], result["selected_by"], order=order, chance=chance):
        found.append(
            f"epoch {kept + 1} of {result['epochs']} was kept, by the validation {result['selected_by']}: these are "
            "the figures of a network that has hardly been trained. Another --select (rps, last), another --lr or a "
            "stronger network may help"
        )
    elif order <= chance < 1:  # with two classes every posterior has one peak
        found.append(
            f"an SOI of {chance:.1%} is what random posteriors have: this training was too short to judge, or the "
            f"method keeps no order. Which ones do: {in_documentation('choose')}"
        )
    error, constant = result["metrics"]["valid"]["mae"], result["constant"]
    if no_better_than_constant(error, constant["valid_mae"]):
        found.append(
            f"the validation MAE, {error:.3f}, is no better than that of always saying {constant['label']!r} "
            f"({constant['valid_mae']:.3f}). More items, more epochs (--epochs), smaller batches (--batch-size), "
            "another --lr or a stronger network may help"
        )
    if len(values) == result["recipe"]["epochs"] and ran_out(values):
        found.append(
            f"the validation {result['selected_by']} was still getting better when the epochs ran out: a longer "
            "training (--epochs) is likely to be better"
        )
    if num_classes < _MANY_CLASSES and (silent := result["never_predicted"]):
        names = listed((f"{name} ({count})" for name, count in silent.items()), limit=5)
        rare = min(silent.values()) * num_classes < result["sizes"]["valid"]
        advice = ". --class-weight balanced counts rare classes as much as others"
        found.append(
            f"never the answer to the validation part, though it has some: {names}"
            + (advice if rare and result["class_weight"] is None else "")
        )
    if gap := result["frequency_gap"]:
        weighted = result["recipe"]["balanced"] or result["recipe"]["class_weight"] is not None
        found.append(
            frequency_note(
                **gap,
                part="the validation part",
                weighted=weighted,
                one_peaked=result["metrics"]["valid"]["unimodal"],
                reason="the training may be too short",
            )
        )
    if result["sizes"]["test"] < _FEW:
        found.append(f"{counted(result['sizes']['test'], 'item')} to test on: the figures of the test say little")
    few = few_samples_note(result["sizes"]["valid"], (result["num_groups"] or result["sizes"])["valid"])
    return found if few is None else [*found, few]
