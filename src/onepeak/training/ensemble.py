"""A model whose posterior is the mean of several trained networks: one model folder like any other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from onepeak.data.splits import Split
from onepeak.networks.build import mean_of
from onepeak.networks.head import MeanHead
from onepeak.networks.network import Network
from onepeak.posterior.predictions import Predictions
from onepeak.training.checkpoint import load_checkpoint
from onepeak.training.convergence import to_lower
from onepeak.training.devices import same_bits
from onepeak.training.evaluate import EXPECTED_MAE, measure, predict
from onepeak.training.familiarity import familiarity_of
from onepeak.training.prepare import Prepared
from onepeak.training.run import CHECKPOINT, RunSettings, Trained, fingerprint, make_network, write_run

if TYPE_CHECKING:
    from lightning.fabric import Fabric

ONE_PEAKED = 0.999
"""Share of one-peaked posteriors among those of the members from which their mean is projected to one peak."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A trained network, its fold, and where its checkpoint is."""

    split: Split
    folder: Path


def write_ensemble(
    settings: RunSettings,
    prepared: Prepared,
    members: Sequence[Member],
    folder: Path,
    *,
    fabric: "Fabric",
    notes: dict[str, Any],
    flips: bool = False,
) -> dict[str, Any]:
    """Writes the mean of networks that trials left in their checkpoints, and looks at the test part they share.

    It is calibrated on what each network predicted for its own validation part, which it was not trained on. With
    `flips`, each image and its mirror image are predicted, if that is better there.
    """
    first = members[0].split
    labels = torch.from_numpy(prepared.manifest.labels).to(fabric.device)
    size = settings.recipe.evaluation_batch_size
    mirrored = (
        [prepared.feed(first, settings.recipe, fabric.device, settings.network, mirrored=True)[0]] if flips else []
    )
    networks: list[Network] = []
    valid: list[list[Predictions]] = [[], []]
    histories, seconds = [], 0.0
    with same_bits():
        for member in members:
            known = fingerprint(settings, prepared, member.split, fabric)
            state = load_checkpoint(member.folder / CHECKPOINT, fingerprint=known)
            assert state is not None
            feed, encoder = prepared.feed(member.split, settings.recipe, fabric.device, settings.network)
            shape = settings.shape(encoder)
            network = make_network(settings, shape, prepared.manifest.num_classes, features=prepared.features)
            network.load_state_dict(_without_weight(state.best))
            networks.append(network.to(fabric.device).eval())
            given: dict[str, Any] = {"fabric": fabric, "batch_size": size}
            each = [predict(networks[-1], view, member.split.valid, labels, **given) for view in (feed, *mirrored)]
            valid[0].append(each[0])
            if flips:
                mean = mean_of([networks[-1]], one_peak=False).to(fabric.device)
                valid[1].append(_both_ways(mean, each))
            histories.append((state.best_epoch, state.history))
            seconds += sum(row["seconds"] for row in state.history)
        held_out, *both_ways = [Predictions.joined(each) for each in valid if each]
        flips = flips and _is_better(both_ways[0], held_out, settings.selection(prepared.manifest))
        held_out = both_ways[0] if flips else held_out
        one_peak = float(held_out.unimodal.double().mean()) >= ONE_PEAKED
        mean = mean_of(networks, one_peak=one_peak).to(fabric.device).eval()
        each = [predict(mean, view, first.test, labels, **given) for view in ([feed, *mirrored] if flips else [feed])]
        test = _both_ways(mean, each) if flips else each[0]
        familiarity = None
        if prepared.features is not None:  # whose features are those of the backbone that all share
            familiarity = familiarity_of(mean, feed, first.train, first.valid, **given)
    best_epoch, history = histories[0]
    trained = Trained(
        network=mean,
        history=history,
        best_epoch=best_epoch,
        seconds=seconds,
        fabric=fabric,
        valid=held_out,
        test=test,
        encoder=encoder,
        familiarity=familiarity,
        members=len(members),
        one_peak=one_peak,
        flips=flips,
    )
    total = {**first.sizes, "train": len(first.train) + len(first.valid), "valid": len(held_out)}
    return write_run(settings, prepared, first, folder, trained, {**notes, "sizes": total})


def _without_weight(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Class weights differ between the folds, and predictions do not use them."""
    return {name: value for name, value in state.items() if name != "method.class_weight"}


def _both_ways(mean: Network, each: Sequence[Predictions]) -> Predictions:
    """Returns the mean of predictions for images and mirror images, as the network makes it."""
    assert isinstance(mean.head, MeanHead)
    log_probs = mean.head.mean([one.log_probs for one in each])
    return replace(each[0], log_probs=log_probs, predicted_index=mean.method.predict(log_probs))


def _is_better(found: Predictions, usual: Predictions, select: str) -> bool:
    """Whether predictions have a better selection metric; of equal ones, a lower ranked probability score."""
    name = "mae" if select in ("last", "loss", EXPECTED_MAE) else select
    before, after = (measure(each, names=(name, "rps")) for each in (usual, found))
    return (to_lower(after[name], name), after["rps"]) < (to_lower(before[name], name), before["rps"])
