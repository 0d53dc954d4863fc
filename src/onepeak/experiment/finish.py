"""`onepeak finish`: the model that a comparison chose, by validation alone."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from torch import nn

from onepeak.errors import InputError
from onepeak.experiment.results import read_results
from onepeak.experiment.tuning import chosen
from onepeak.networks.build import mean_of
from onepeak.networks.network import Network
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import calibration_of
from onepeak.training.card import write_card
from onepeak.training.ensemble import ONE_PEAKED
from onepeak.training.evaluate import measure
from onepeak.training.features import BACKBONE
from onepeak.training.model_files import (
    load_description,
    load_held_out_items,
    load_network,
    load_trained_items,
    save_held_out_items,
    save_model,
    save_trained_items,
    write_digests,
)
from onepeak.training.out_folder import make_out, refuse_others
from onepeak.training.predictions_file import part_predictions


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a comparison chose."""

    label: str
    select: str
    value: float
    """The mean of its validation metric."""
    runs: tuple[Path, ...]
    """Its runs on the folds of the first split: the members of the model."""


def choice_of(comparison: Path) -> Choice:
    """Returns the method with the best mean validation metric, the one that chose its epochs."""
    results = read_results(comparison)
    if results["dataset"].nunique() > 1:
        raise InputError(f"`{comparison}` must be a comparison on one data set, got several.")
    select = str(results["selected_by"].iloc[0])
    metric = "mae" if select in ("last", "loss") else select
    means = results.groupby("label", sort=False)[f"valid_{metric}"].mean()
    label = str(means.index[chosen(means.tolist(), metric)])
    own = results[(results["label"] == label) & (results["split"] == results["split"].min())]
    return Choice(label=label, select=metric, value=float(means[label]), runs=tuple(map(Path, own["folder"])))


def finish(choice: Choice, out: Path) -> None:
    """Writes the mean of the networks of all folds as one model, calibrated on what each predicted out of its fold.

    Its test figures are those of its members, each on its own test part.
    """
    refuse_others(out)
    make_out(out)
    descriptions = [load_description(run) for run in choice.runs]
    first = descriptions[0]
    if any(each.table != first.table for each in descriptions):
        raise InputError(
            "`finish` needs runs that encode rows alike, got a comparison on a table, where every fold has its own "
            "encoder: use onepeak fit, or give one of the runs to predict."
        )
    networks = [load_network(run, each) for run, each in zip(choice.runs, descriptions, strict=True)]
    frozen = all((run / BACKBONE).is_file() for run in choice.runs)
    held_out = Predictions.joined([replace(part_predictions(run, "valid"), sources=()) for run in choice.runs])
    one_peak = float(held_out.unimodal.double().mean()) >= ONE_PEAKED
    if frozen:
        shutil.copyfile(choice.runs[0] / BACKBONE, out / BACKBONE)
        networks = [Network(nn.Identity(), each.head, each.method) for each in networks]
    state = networks[0].state_dict()
    if len(networks) > 1:  # class weights differ between folds, and predictions do not use them
        mean = mean_of(networks, one_peak=one_peak)
        state = {name: value for name, value in mean.state_dict().items() if not name.endswith("method.class_weight")}
    tests = [each.metrics["test"] for each in descriptions]
    test = {name: sum(each[name] for each in tests) / len(tests) for name in tests[0]}
    save_trained_items(out, [item for run in choice.runs for item in _all_items(run)])
    save_held_out_items(out, [])
    description = replace(
        first,
        metrics={"valid": measure(held_out), "test": test},
        calibration=calibration_of(held_out),
        members=len(networks),
        one_peak=one_peak and len(networks) > 1,
        class_weight=first.class_weight if len(networks) == 1 else None,
    )
    save_model(out, description, state)
    write_card(out, description, {})
    write_digests(out)


def _all_items(run: Path) -> list[str]:
    """The samples that a run was trained on or chose its epoch by; those of its test part may be others' training."""
    return [*load_trained_items(run), *load_held_out_items(run)[: len(part_predictions(run, "valid"))]]
