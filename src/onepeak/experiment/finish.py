"""`onepeak finish`: the model that a comparison chose, by validation alone."""

import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from onepeak.data.splits import Split
from onepeak.errors import InputError
from onepeak.experiment.plan import read_plan
from onepeak.experiment.prepared import open_experiment
from onepeak.experiment.results import read_results
from onepeak.experiment.run_files import CONFIG, read_run
from onepeak.experiment.tuning import chosen
from onepeak.networks.build import mean_of
from onepeak.networks.network import Network
from onepeak.posterior.predictions import Predictions
from onepeak.training.calibration import calibration_of
from onepeak.training.card import write_card
from onepeak.training.devices import same_bits
from onepeak.training.ensemble import ONE_PEAKED
from onepeak.training.evaluate import measure
from onepeak.training.familiarity import ImageRange, load_familiarity, save_familiarity
from onepeak.training.features import BACKBONE
from onepeak.training.model_files import (
    keep_encoder,
    load_description,
    load_held_out_items,
    load_network,
    load_trained_items,
    save_held_out_items,
    save_model,
    save_trained_items,
    write_digests,
)
from onepeak.training.out_folder import RESULT, make_out, refuse_others
from onepeak.training.predictions_file import part_predictions
from onepeak.training.run import CHECKPOINT, train_network, weights_of_classes

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a comparison chose."""

    comparison: Path
    label: str
    select: str
    value: float
    """The mean of its validation metric."""
    tuned: dict[str, Any]
    """The settings that most of its runs chose, if they were tuned."""
    runs: tuple[Path, ...]
    """Its runs on the folds of the first split: the members of the model."""

    @property
    def of_rows(self) -> bool:
        """Whether it is a comparison on a table, of which every run has its own encoder."""
        return load_description(self.runs[0]).table is not None


def choice_of(comparison: Path) -> Choice:
    """Returns the method with the best mean validation metric, the one that chose its epochs."""
    results = read_results(comparison)
    if results["dataset"].nunique() > 1:
        raise InputError(f"`{comparison}` must be a comparison on one data set, got several.")
    select = str(results["selected_by"].iloc[0])
    metric = select if f"valid_{select}" in results else "mae"
    means = results.groupby("label", sort=False)[f"valid_{metric}"].mean()
    label = str(means.index[chosen(means.tolist(), metric)])
    own = results[(results["label"] == label) & (results["split"] == results["split"].min())]
    (tuned, _), *_ = Counter(tuple(each.items()) for each in own["tuned"]).most_common()
    return Choice(
        comparison=comparison,
        label=label,
        select=metric,
        value=float(means[label]),
        tuned=dict(tuned),
        runs=tuple(map(Path, own["folder"])),
    )


def finish(choice: Choice, out: Path) -> None:
    """Writes the mean of the networks of all folds as one model, calibrated on what each predicted out of its fold."""
    if choice.of_rows:
        raise InputError(
            "`--no-refit` needs runs that read their data alike, got a comparison on a table, where every run has its "
            "own encoder of rows: leave it out.",
            argument="refit",
        )
    refuse_others(out)
    make_out(out)
    networks = [load_network(run, load_description(run)) for run in choice.runs]
    if all((run / BACKBONE).is_file() for run in choice.runs):
        shutil.copyfile(choice.runs[0] / BACKBONE, out / BACKBONE)
        networks = [Network(nn.Identity(), each.head, each.method) for each in networks]
    one_peak = float(_held_out(choice).unimodal.double().mean()) >= ONE_PEAKED
    state = networks[0].state_dict()
    if len(networks) > 1:  # class weights differ between folds, and predictions do not use them
        mean = mean_of(networks, one_peak=one_peak)
        state = {name: value for name, value in mean.state_dict().items() if not name.endswith("method.class_weight")}
    weight = load_description(choice.runs[0]).class_weight if len(networks) == 1 else None
    save_trained_items(out, [item for run in choice.runs for item in _all_items(run)])
    _write(choice, out, state, members=len(networks), one_peak=one_peak and len(networks) > 1, class_weight=weight)


def refit(choice: Choice, out: Path, *, fabric: "Fabric", cache: Path | None = None) -> None:
    """Trains the chosen method on all samples, the test parts too, and writes the network as a model.

    It has as many epochs as the runs kept on average, and their calibration: each predicted samples that it was not
    trained on. Killed, it goes on from its last checkpoint.
    """
    if not (out / CHECKPOINT).exists():
        refuse_others(out)
    make_out(out)
    plan = read_plan(choice.comparison / CONFIG)
    (entry,) = [each for each in plan.methods if each.label == choice.label]
    plan = replace(plan, methods=(entry,), tune={})
    prepared_experiment = open_experiment(plan, cache=cache, quiet=True, device=fabric.device.type)
    prepared, settings = prepared_experiment.prepared, prepared_experiment.settings(entry)
    kept = [read_run(run / RESULT).best_epoch + 1 for run in choice.runs]
    recipe = replace(
        settings.recipe, **choice.tuned | {"epochs": round(sum(kept) / len(kept)), "select": "last", "patience": None}
    )
    settings, manifest = replace(settings, recipe=recipe), prepared.manifest
    split = Split.all_of(len(manifest))
    with same_bits():
        trained = train_network(settings, prepared, split, out, fabric=fabric, select="last")
    features, encoder = prepared.features, trained.encoder
    if features is not None:
        features.link_backbone(out)
        save_familiarity(out, load_familiarity(choice.runs[0]))  # of the backbone that all share
    keep_encoder(out, None if encoder is None else encoder.texts)
    save_trained_items(out, prepared.digests)
    image_range = None if prepared.store is None else ImageRange.learn(prepared.store, split.train)
    weight = weights_of_classes(settings, prepared, split)
    changes = {"network": settings.shape(encoder), "table": encoder, "class_weight": weight}
    _write(choice, out, trained.network.state_dict(), **changes, image_range=image_range)
    (out / CHECKPOINT).unlink(missing_ok=True)


def _write(choice: Choice, out: Path, state: dict[str, Tensor], **changes: Any) -> None:
    """Writes the model with the figures of its runs: of validation together, of their test parts on average."""
    descriptions, held_out = [load_description(run) for run in choice.runs], _held_out(choice)
    tests = [each.metrics["test"] for each in descriptions]
    test = {name: sum(each[name] for each in tests) / len(tests) for name in tests[0]}
    metrics = {"valid": measure(held_out), "test": test}
    description = replace(descriptions[0], metrics=metrics, calibration=calibration_of(held_out), **changes)
    save_held_out_items(out, [])
    save_model(out, description, state)
    first = read_run(choice.runs[0] / RESULT)
    write_card(out, description, {"weights": first.weights, "frozen": first.frozen, "licence": first.licence})
    write_digests(out)


def _held_out(choice: Choice) -> Predictions:
    return Predictions.joined([replace(part_predictions(run, "valid"), sources=()) for run in choice.runs])


def _all_items(run: Path) -> list[str]:
    """The samples that a run was trained on or chose its epoch by; those of its test part may be others' training."""
    return [*load_trained_items(run), *load_held_out_items(run)[: len(part_predictions(run, "valid"))]]
