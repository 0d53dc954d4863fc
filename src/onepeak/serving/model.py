"""A trained model, loaded from its folder, that predicts for images or rows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np
import torch
from torch import Tensor

from onepeak._core.files import expanded
from onepeak._core.wording import did_you_mean_file, listed
from onepeak.data.costs import costs_of
from onepeak.data.manifest import FeatureRows
from onepeak.data.texts import known_encoder
from onepeak.errors import InputError
from onepeak.networks.inputs import ImageInput
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import is_own
from onepeak.posterior.predictions import Combine, Predictions, SourceName, Unlike
from onepeak.posterior.referral import Policy
from onepeak.serving.images import AnyImage, Pixels, image_paths, pixels_of, separate
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import notes_of, predict_all
from onepeak.serving.referral import load_policy
from onepeak.serving.table_rows import TableRows, rows_of
from onepeak.training.devices import find_device, same_bits
from onepeak.training.familiarity import Familiarity, load_familiarity
from onepeak.training.model_files import (
    WEIGHTS,
    ModelDescription,
    check_model,
    load_description,
    load_network,
    load_trained_items,
    weights_id,
)
from onepeak.training.out_folder import DESCRIPTION


def model_folder(folder: Path) -> Path:
    """Returns the model's folder: the one given, or the only model among the runs of a comparison."""
    folder = expanded(folder)
    if (folder / DESCRIPTION).is_file():
        return folder
    models = sorted(path.parent for path in folder.glob(f"runs/*/*/{DESCRIPTION}"))
    if len(models) > 1:
        raise InputError(
            f"`{folder}` must hold one model, got a comparison with {len(models)}: name one of them, "
            f"{listed(models, limit=3)}."
        )
    return models[0] if models else folder


def load(folder: str | Path, *, device: str = "cpu") -> "Model":
    """Loads a trained model.

    Args:
        folder: A folder that `onepeak train --out` made, with `onepeak.json` and `model.safetensors`, or a comparison
            with a single model. No code in it is run.
        device: "cpu", "cuda" (or "gpu"), "cuda:1", "mps", or "auto" for a GPU if there is one.

    Raises:
        InputError: The folder holds no complete model, several models, or one of another version.

    Example:
        >>> import tempfile
        >>> import onepeak
        >>> from onepeak.data.images.resize import Resize
        >>> from onepeak.networks import NetworkSettings, build_network
        >>> from onepeak.training.model_files import save_model
        >>> network = build_network(onepeak.method("elb", num_classes=3), NetworkSettings(backbone="small"))
        >>> description = ModelDescription(
        ...     classes=("low", "middle", "high"),
        ...     method="elb",
        ...     variant="corrected",
        ...     method_settings={},
        ...     network=NetworkSettings(backbone="small"),
        ...     resize=Resize(short_side=32),
        ...     table=None,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_model(Path(folder), description, network.state_dict())
        ...     model = load(folder)
        >>> found = model.predict(np.zeros((2, 64, 96, 3), np.uint8))
        >>> found.predicted_index.shape, found.log_probs.shape, found.soi.shape
        (torch.Size([2]), torch.Size([2, 3]), torch.Size([2]))
    """
    place = find_device(device)
    folder = model_folder(Path(folder))
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing there"
        raise InputError(
            f"`{folder}` must be a model's folder, got {found}: give what `onepeak train --out` made."
            f"{did_you_mean_file(folder)}"
        )
    check_model(folder)
    description = load_description(folder)
    if not (folder / WEIGHTS).is_file():
        raise InputError(f"{folder} must hold the model's weights, {WEIGHTS}, got a folder without: copy it whole.")
    network = load_network(folder, description)
    texts = None if description.table is None else description.table.texts
    if texts is not None and texts.encoding is not None:
        known_encoder(texts.encoding).to(place)
    return Model(
        description,
        network,
        place,
        trained_items=load_trained_items(folder),
        model_id=weights_id(folder),
        familiarity=load_familiarity(folder),
        policy=load_policy(folder),
    )


@final
class Model:
    """A trained model; see `load`.

    Args:
        description: What the weights mean.
        network: The network with its weights.
        device: The device it runs on.
        trained_items: Short hashes of its training items; empty if not known.
        model_id: The first 12 hex digits of the SHA-256 of its weights file, if there is one.
        familiarity: What it knows of its training samples in feature space.
        policy: Which samples it refers to a person.
    """

    def __init__(
        self,
        description: ModelDescription,
        network: Network,
        device: torch.device,
        *,
        trained_items: frozenset[str] = frozenset(),
        model_id: str | None = None,
        familiarity: Familiarity | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.policy = policy
        self.familiarity = familiarity
        self.trained_items = trained_items
        self.model_id = model_id
        self.description = description
        self.network = network.to(device).eval()
        self.device = device
        self._input = ImageInput(description.network.mean, description.network.std).to(device)
        self._compiled = is_own(description.network.backbone)  # only a user's own network may be compiled

    def __repr__(self) -> str:
        kind = "table" if self.reads_tables else "image"
        return f"Model({kind}s, {self.description.method!r}, {len(self.classes)} classes, {self.device})"

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in their order."""
        return self.description.classes

    @property
    def reads_tables(self) -> bool:
        """Whether it was trained on rows of a table, not on images."""
        return self.description.table is not None

    def predict(
        self,
        inputs: object,
        *,
        batch_size: int | None = None,
        alpha: float | None = None,
        decide: str | None = None,
        cost: object = None,
        project: bool = False,
        raw: bool = False,
        decimal: str | None = None,
    ) -> Predictions:
        """Predicts labels, posteriors, intervals and side order index for images or rows.

        Args:
            inputs: For an image model: a path, a folder (all images below it), a PIL image, a uint8 array or tensor
                (n, height, width, 3) or (n, 3, height, width), or a sequence of any of these except batches; sizes may
                differ. For a table model: a pandas DataFrame, a dictionary of columns, a list of dictionaries, a CSV or
                parquet file, or a 2-D array in the order of the model's columns.
            batch_size: The most samples computed at once; by default 32 images or 4096 rows.
            alpha: The share of samples whose interval may miss the true label. By default 0.1, or no intervals if the
                validation part of the training was too small for that.
            decide: "mode", "median", "mean", "qwk" or "cost": how labels follow from the calibrated posteriors, see
                `onepeak.posterior.decide`. By default labels are the method's own decisions.
            cost: For the decision "cost": the cost of deciding for a class (column) when another is true (row), as an
                array, a DataFrame or a CSV file, with or without the names of the classes.
            project: Whether to return the nearest posteriors that have one peak; see `PosteriorOptions`.
            raw: Whether to return posteriors as they come from the network, not calibrated.
            decimal: "," if commas in the numbers of a CSV are decimal commas, even if they could separate thousands.

        Returns:
            One prediction per sample, in order. Images are read as needed, a few at a time.

        Raises:
            InputError: An input is not an image, lacks columns of the model or has no value in any of them, or has no
                posterior (numbers far beyond those of the training). `onepeak.serving.stream` continues past bad files.
        """
        options = self.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project, raw=raw)
        samples: list[AnyImage] | TableRows
        if self.description.table is not None:
            samples = rows_of(inputs, self.description.table, decimal=decimal)
            source_name: SourceName = samples.source_name
        else:
            if decimal is not None:
                raise InputError("`decimal` has no effect for an image model: leave it out.")
            if isinstance(inputs, str | Path) and Path(inputs).is_dir():
                inputs = image_paths([inputs])
            samples = separate(inputs)
            if not samples:
                raise InputError("`inputs` must hold at least one image, got none.")
            source_name = "path" if all(isinstance(image, str | Path) for image in samples) else "item"
        raw_predictions, _ = predict_all(self, samples, batch_size=batch_size, on_failure="raise")
        found = self.read(replace(raw_predictions, source_name=source_name), options)
        return replace(found, notes=notes_of(self, samples, options, found.with_unlike, source_name=source_name))

    def posterior_options(
        self,
        *,
        alpha: float | None = None,
        decide: str | None = None,
        cost: object = None,
        project: bool = False,
        raw: bool = False,
    ) -> PosteriorOptions:
        """Returns how to read this model's posteriors, as in `predict`; refuses options that it does not support."""
        costs = costs_of(cost, self.classes)
        posterior_options = PosteriorOptions(alpha=alpha, decide=decide, cost=costs, project=project, raw=raw)
        posterior_options.check(self.description.calibration)
        return posterior_options

    def pixels(self, image: AnyImage) -> Pixels:
        """Decodes and resizes one image as in training; see `answers`."""
        if self.description.resize is None:
            raise InputError("This model reads rows of a table, got an image.")
        return pixels_of(image, self.description.resize, bits=self.description.bits)

    def unlike(self, pixels: Pixels) -> Unlike:
        """Returns the statistics by which an image, from `pixels`, is unlike the training images."""
        known = self.description.image_range
        return None if known is None else known.outside(pixels)

    def answers(self, images: Sequence[Pixels]) -> Predictions:
        """Runs the network on images of one size in one batch, and returns its own predictions, before calibration.

        A sample whose posterior is NaN, as the network's output is not finite, has no prediction.
        """
        return self._computed(self._images(images))

    def row_answers(self, rows: FeatureRows) -> Predictions:
        """Like `answers`, for rows with the columns and codes of `description.table`."""
        if self.description.table is None:
            raise InputError("This model reads images, got rows of a table.")
        return self._computed(torch.from_numpy(self.description.table.encode(rows)).to(self.device))

    def read(self, raw: Predictions, options: PosteriorOptions) -> Predictions:
        """Returns the network's own predictions as the options read them: calibrated, decided, with intervals."""
        found = self._read(raw, options)
        if self.policy is None:
            return found
        usual = PosteriorOptions()  # on which the policy was set
        return replace(found, refer=self.policy.reasons(found if options == usual else self._read(raw, usual)))

    def read_groups(
        self, raw: Predictions, groups: Sequence[str], how: Combine, options: PosteriorOptions
    ) -> Predictions:
        """Returns one prediction per group, such as a patient, combined from those of its samples as `read` gives them.

        Where the training had enough groups, intervals are calibrated on groups; otherwise those of the samples are
        joined. A policy set on groups combined in this way judges the group; any other judges the group and each of its
        samples.
        """
        found = self._read_groups(raw, groups, how, options)
        if self.policy is None:
            return found
        usual = PosteriorOptions()
        refer = self.policy.reasons(found if options == usual else self._read_groups(raw, groups, how, usual))
        if self.policy.combine != how:
            by_sample = self.read(raw, usual).combined(groups, how).refer
            refer = tuple(own or why for own, why in zip(by_sample, refer, strict=True))
        return replace(found, refer=refer)

    def _read_groups(
        self, raw: Predictions, groups: Sequence[str], how: Combine, options: PosteriorOptions
    ) -> Predictions:
        found, calibration = self._read(raw, options).combined(groups, how), self.description.calibration
        if found.alpha is None or calibration is None or not calibration.allows_groups(found.alpha, how):
            return found
        usual = self._read(raw, PosteriorOptions(alpha=found.alpha)).combined(groups, how)
        intervals = calibration.group_intervals(usual.log_probs, found.predicted_index, found.alpha, how)
        return replace(found, intervals=intervals)

    def _read(self, raw: Predictions, options: PosteriorOptions) -> Predictions:
        calibration = self.description.calibration
        read = options.read(raw.log_probs, raw.predicted_index, calibration)
        return replace(
            raw,
            classes=self.classes,
            predicted_index=read.labels,
            log_probs=read.log_probs,
            intervals=read.intervals,
            alpha=options.used_alpha(calibration),
        )

    @torch.inference_mode()
    def evidence(self, images: Sequence[Pixels], labels: Tensor) -> Tensor:
        """Maps where in each image the class comes from: `onepeak.networks.Network.class_evidence`, on the CPU.

        Returns:
            Finite maps: a class without any probability has equally little evidence everywhere.
        """
        with same_bits(compiled=self._compiled):
            maps = self.network.class_evidence(self._images(images), labels.to(self.device)).float().cpu()
        lowest = torch.where(maps.isfinite(), maps, torch.inf).amin(dim=(1, 2), keepdim=True).nan_to_num(posinf=0.0)
        return torch.where(maps.isfinite(), maps, lowest)

    def _images(self, images: Sequence[Pixels]) -> Tensor:
        # Channels-last memory, as in training's batches: another layout would round differently.
        batch = torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)
        inputs: Tensor = self._input(batch.to(self.device))
        return inputs

    @torch.inference_mode()
    def _computed(self, inputs: Tensor) -> Predictions:
        with same_bits(compiled=self._compiled):
            (outputs, features), method = self.network.with_features(inputs), self.network.method
            distance = coordinates = None
            if self.familiarity is not None:
                seen = self.familiarity.seen(inputs, features)
                distance, coordinates = self.familiarity.distance(seen).cpu(), self.familiarity.coordinates(seen).cpu()
            log_probs = method.log_probs(outputs)
            finite = ~log_probs.isnan().any(dim=-1)  # the other samples do not depend on these
            labels = torch.zeros(len(outputs), dtype=torch.int64, device=outputs.device)
            labels[finite] = method.predict(outputs[finite]).long()
            return Predictions(
                predicted_index=labels.cpu(),
                log_probs=log_probs.float().cpu(),
                distance=distance,
                coordinates=coordinates,
            )
