"""Builds a network from settings, or around your own module."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

from torch import Tensor, nn

from onepeak._core.check import check_choice, check_integer, check_number
from onepeak._core.records import Within
from onepeak.errors import InputError
from onepeak.methods import Method
from onepeak.methods.method import SoftmaxMethod
from onepeak.networks.backbones import Mlp, SmallConvNet, TimmBackbone
from onepeak.networks.head import AveragePooling, MapHead, MaxPooling, MeanHead, RowHead, WildcatPooling
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import OwnBackbone, features_of, is_own
from onepeak.networks.weights import load_weights, reset_weights, seeded

PoolingName: TypeAlias = Literal["wildcat", "average", "max"]

_OF_WILDCAT = ("maps_per_class", "kmax", "kmin", "alpha")
_OF_MAPS = ("pooling", *_OF_WILDCAT)
_OF_PIXELS = ("mean", "std")
_OF_MLP = ("hidden", "dropout")
_OF_TABLES = ("num_features", *_OF_MLP)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Everything that determines a network's layers apart from its method. A setting without effect is an error.

    Example:
        >>> NetworkSettings(backbone="mlp", num_features=10, hidden=(32,)).hidden
        (32,)
        >>> NetworkSettings(pooling="average", kmax=0.2)
        Traceback (most recent call last):
        onepeak.errors.InputError: `kmax` does nothing with pooling='average', got 0.2: leave it out.
    """

    backbone: str = "resnet18"
    """A timm name, "small" (a small built-in network for small images), "mlp" (for tables), or your own backbone as
    "package.module:name" (see `onepeak.networks.own_backbone`)."""
    pooling: PoolingName = "wildcat"
    """How evidence maps become outputs."""
    maps_per_class: Annotated[int, Within(1, 10_000)] = 5
    """Maps per output that WILDCAT averages."""
    kmax: float = 0.1
    """Share of positions that count as highest."""
    kmin: float | None = None
    """Share of positions that count as lowest; `kmax` by default. Only allowed if alpha is not 0."""
    alpha: float = 0.0
    """Weight of the lowest positions."""
    num_features: int | None = None
    """Number of features of an encoded table row; needed by "mlp", and by your own backbone for tables."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers of "mlp"."""
    dropout: float = 0.0
    """Dropout of the hidden layers of "mlp"."""
    mean: tuple[float, float, float] | None = None
    """Mean of red, green and blue, from 0 to 1, that is subtracted from the pixels; None maps them to -1..1."""
    std: tuple[float, float, float] | None = None
    """Deviation of red, green and blue, that the pixels are then divided by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # JSON gives a list
        self._check_pixels()
        check_choice("pooling", self.pooling, get_args(PoolingName))
        if self.backbone == "mlp":
            self._refuse((*_OF_MAPS, *_OF_PIXELS), "backbone='mlp'")
            if self.num_features is None:
                raise InputError("`num_features` must be given with backbone='mlp': the number of table columns.")
            return  # Mlp checks the values it takes
        own = is_own(self.backbone)
        self._refuse(_OF_MLP if own else _OF_TABLES, f"backbone={self.backbone!r}")
        if own and self.num_features is not None:
            self._refuse((*_OF_MAPS, *_OF_PIXELS), "rows of a table")
        if self.pooling != "wildcat":
            self._refuse(_OF_WILDCAT, f"pooling={self.pooling!r}")
        check_integer("maps_per_class", self.maps_per_class, minimum=1)
        WildcatPooling(kmax=self.kmax, kmin=self.kmin, alpha=self.alpha)

    def _check_pixels(self) -> None:
        if (self.mean is None) != (self.std is None):
            raise InputError("`mean` and `std` must be given together, or neither.")
        for name, values in (("mean", self.mean), ("std", self.std)):
            if values is not None and (not isinstance(values, tuple | list) or len(values) != 3):
                raise InputError(f"`{name}` must be three numbers, for red, green and blue, got {values!r}.")
            for value in values or ():
                check_number(name, value, minimum=0 if name == "mean" else None, above=0 if name == "std" else None)

    def refuse_pooling(self, chosen: str) -> None:
        """Raises an error if pooling settings are given to a network that has `chosen` in place of maps."""
        self._refuse(_OF_MAPS, chosen)

    def _refuse(self, names: tuple[str, ...], chosen: str) -> None:
        """Raises an error if a setting in `names` is not at its default."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in names and value != field.default:
                raise InputError(f"`{field.name}` does nothing with {chosen}, got {value!r}: leave it out.")


def build_network(
    method: Method,
    settings: NetworkSettings,
    *,
    weights: Path | None = None,
    seed: int | None = None,
) -> Network:
    """Builds a backbone and a head for a method.

    With a seed, the initial weights of the backbone are the same for every method, and those of the head are the same
    for every method with the same number of outputs. The method's own layers are initialised from the seed too. The
    global random state does not change.

    Args:
        method: The method that reads the outputs.
        settings: Backbone, pooling and layers.
        weights: A local weight file for the backbone, see `onepeak.networks.weights.load_weights`; the head starts with
            new weights. Nothing is downloaded.
        seed: Seed of the initial weights; by default they come from torch's global random state.

    Example:
        >>> import onepeak, torch
        >>> elb = onepeak.method("elb", num_classes=8)
        >>> network = build_network(elb, NetworkSettings(backbone="small"), seed=0)
        >>> network.evidence(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 8, 8, 8])
    """
    with seeded(seed, "backbone"):
        backbone = _backbone(settings)
    of_maps = backbone.gives_maps if isinstance(backbone, OwnBackbone) else not isinstance(backbone, Mlp)
    network = with_head(backbone, method, settings, backbone.num_channels, of_maps=of_maps, seed=seed)
    network.notes = () if weights is None else _load(backbone, weights)
    return network


def network_around(
    method: Method,
    backbone: nn.Module,
    *,
    example: Tensor,
    pooling: PoolingName = "wildcat",
    maps_per_class: int = 5,
    kmax: float = 0.1,
    kmin: float | None = None,
    alpha: float = 0.0,
    seed: int | None = None,
) -> Network:
    """Adds a head and a method to any module that returns feature maps or features.

    A module that returns the method's outputs itself needs no head: `Network(module, nn.Identity(), method)`.

    Args:
        method: The method that reads the outputs.
        backbone: A module from inputs to feature maps (batch, channels, height, width) or features (batch, features).
        example: A batch of inputs on the module's device, used to find the shape of its output.
        pooling, maps_per_class, kmax, kmin, alpha: As in `NetworkSettings`; not allowed for features.
        seed: Seed of the initial weights of the head and the method; the backbone keeps its weights.

    Example:
        >>> import onepeak, torch
        >>> network = network_around(
        ...     onepeak.method("slopes", num_classes=4), nn.Conv2d(3, 8, 3), example=torch.zeros(1, 3, 16, 16)
        ... )
        >>> network(torch.zeros(2, 3, 16, 16)).shape
        torch.Size([2, 3])
    """
    features = features_of(backbone, example)
    settings = NetworkSettings(pooling=pooling, maps_per_class=maps_per_class, kmax=kmax, kmin=kmin, alpha=alpha)
    network = with_head(backbone, method, settings, features.shape[1], of_maps=features.ndim == 4, seed=seed)
    network.head.to(features.device)
    network.method.to(features.device)
    return network


def _backbone(settings: NetworkSettings) -> SmallConvNet | Mlp | TimmBackbone | OwnBackbone:
    match settings.backbone:
        case "mlp":
            columns = check_integer("num_features", settings.num_features or 0, minimum=1)
            return Mlp(columns, hidden=settings.hidden, dropout=settings.dropout)
        case "small":
            return SmallConvNet()
        case name if is_own(name):
            return OwnBackbone(name, num_features=settings.num_features)
        case name:
            return TimmBackbone(name)


def with_head(
    backbone: nn.Module,
    method: Method,
    settings: NetworkSettings,
    num_channels: int,
    *,
    of_maps: bool,
    seed: int | None,
) -> Network:
    """Builds what `build_network` puts after the backbone, with the same initial weights."""
    with seeded(seed, "head"):
        head = _head(num_channels, method.num_outputs, settings, of_maps=of_maps)
    if seed is not None:
        with seeded(seed, "method"):
            reset_weights(method)
    return Network(backbone, head, method)


def _head(num_channels: int, num_outputs: int, settings: NetworkSettings, *, of_maps: bool) -> MapHead | RowHead:
    if not of_maps:
        settings.refuse_pooling("a backbone that returns features, not maps")
        return RowHead(num_channels, num_outputs)
    match settings.pooling:
        case "wildcat":
            pooling = WildcatPooling(kmax=settings.kmax, kmin=settings.kmin, alpha=settings.alpha)
            return MapHead(num_channels, num_outputs, pooling=pooling, maps_per_output=settings.maps_per_class)
        case "average":
            return MapHead(num_channels, num_outputs, pooling=AveragePooling())
        case "max":
            return MapHead(num_channels, num_outputs, pooling=MaxPooling())


def _load(backbone: nn.Module, weights: Path) -> tuple[str, ...]:
    match backbone:
        case OwnBackbone():
            return load_weights(backbone.model, weights)
        case TimmBackbone():
            unused = backbone.model.pretrained_cfg.get("classifier") or ()
            return load_weights(backbone.model, weights, unused=(unused,) if isinstance(unused, str) else unused)
        case _:
            return load_weights(backbone, weights)


def mean_of(
    members: Sequence[Network], *, one_peak: bool, backbone: nn.Module | None = None, flips: bool = False
) -> Network:
    """Returns a network whose outputs are the mean log-probabilities of its members.

    A `backbone` is one that the members share; with `flips`, it predicts each image and its mirror image.
    """
    method = SoftmaxMethod(members[0].method.num_classes)
    method.decision = members[0].method.decision
    return Network(backbone or nn.Identity(), MeanHead(members, one_peak=one_peak), method, flips=flips)
