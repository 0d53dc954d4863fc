"""Builds a network from settings, or around your own module."""

from pathlib import Path

from torch import Tensor, nn

from onepeak._check import check_integer
from onepeak.errors import InputError
from onepeak.methods import Method
from onepeak.networks.head import MapHead, RowHead
from onepeak.networks.mlp import Mlp
from onepeak.networks.network import Network
from onepeak.networks.own_backbone import OwnBackbone, features_of, is_own
from onepeak.networks.pooling import AveragePooling, MaxPooling, WildcatPooling
from onepeak.networks.seeds import reset_weights, seeded
from onepeak.networks.settings import NetworkSettings, PoolingName
from onepeak.networks.small import SmallConvNet
from onepeak.networks.timm_backbone import TimmBackbone
from onepeak.networks.weights import load_weights

__all__ = ["NetworkSettings", "build_network", "network_around"]


def build_network(
    method: Method,
    settings: NetworkSettings,
    *,
    weights: Path | None = None,
    pretrained: bool = False,
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
            new weights.
        pretrained: Whether to download timm's weights for the backbone; otherwise nothing is downloaded.
        seed: Seed of the initial weights; by default they come from torch's global random state.

    Example:
        >>> import onepeak, torch
        >>> elb = onepeak.method("elb", num_classes=8)
        >>> network = build_network(elb, NetworkSettings(backbone="small"), seed=0)
        >>> network.evidence(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 8, 8, 8])
    """
    if weights is not None and pretrained:
        raise InputError("`weights` and `pretrained` exclude each other: give the file, or let timm download weights.")
    with seeded(seed, "backbone"):
        backbone = _backbone(settings, pretrained)
    with seeded(seed, "head"):
        head = _head(backbone.num_channels, method.num_outputs, settings, of_maps=_gives_maps(backbone))
    if seed is not None:
        with seeded(seed, "method"):
            reset_weights(method)
    return Network(backbone, head, method, notes=() if weights is None else _load(backbone, weights))


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
        pooling: Pooling of the maps, as in `NetworkSettings`. The pooling settings are not allowed for features.
        maps_per_class: As in `NetworkSettings`.
        kmax: As in `NetworkSettings`.
        kmin: As in `NetworkSettings`.
        alpha: As in `NetworkSettings`.
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
    with seeded(seed, "head"):
        head = _head(features.shape[1], method.num_outputs, settings, of_maps=features.ndim == 4)
    if seed is not None:
        with seeded(seed, "method"):
            reset_weights(method)
    return Network(backbone, head.to(features.device), method.to(features.device))


def _backbone(settings: NetworkSettings, pretrained: bool) -> SmallConvNet | Mlp | TimmBackbone | OwnBackbone:
    own = is_own(settings.backbone)
    if pretrained and (own or settings.backbone in ("mlp", "small")):
        raise InputError(f"`pretrained` must be False with backbone={settings.backbone!r}, which has no such weights.")
    match settings.backbone:
        case "mlp":
            columns = check_integer("num_features", settings.num_features or 0, minimum=1)
            return Mlp(columns, hidden=settings.hidden, dropout=settings.dropout)
        case "small":
            return SmallConvNet()
        case name:
            if own:
                return OwnBackbone(name, num_features=settings.num_features)
            return TimmBackbone(name, pretrained=pretrained)


def _gives_maps(backbone: nn.Module) -> bool:
    return backbone.gives_maps if isinstance(backbone, OwnBackbone) else not isinstance(backbone, Mlp)


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
    if isinstance(backbone, OwnBackbone):
        return load_weights(backbone.model, weights)
    if not isinstance(backbone, TimmBackbone):
        return load_weights(backbone, weights)
    classifier = backbone.model.pretrained_cfg.get("classifier") or ()
    return load_weights(backbone.model, weights, unused=(classifier,) if isinstance(classifier, str) else classifier)
