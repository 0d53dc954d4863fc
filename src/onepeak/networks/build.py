"""Networks from settings, and around a module of the user's own."""

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
    """Builds backbone and head for a method.

    With a seed, backbone and head have first weights that are the same for every method (heads, where the number of
    outputs is the same), and the method's own layers are drawn anew from that seed too. The global random numbers are
    left as they were.

    Args:
        method: What reads the outputs.
        settings: What the network is made of.
        weights: A local file for the backbone, see `onepeak.networks.weights.load_weights`; the head starts fresh.
        pretrained: Fetches timm's weights for the backbone; nothing is downloaded otherwise.
        seed: Of the first weights; without one they come from torch's global random numbers.

    Example:
        >>> import onepeak, torch
        >>> elb = onepeak.method("elb", num_classes=8)
        >>> network = build_network(elb, NetworkSettings(backbone="small"), seed=0)
        >>> network.evidence(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 8, 8, 8])
    """
    if weights is not None and pretrained:
        raise InputError("`weights` and `pretrained` exclude each other: the file, or what timm fetches.")
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
    """Puts a head and a method behind any module that gives feature maps or features.

    A module that gives the method's outputs itself needs no head: `Network(module, nn.Identity(), method)`.

    Args:
        method: What reads the outputs.
        backbone: Inputs to feature maps (batch, channels, height, width), or to features (batch, features).
        example: A batch of inputs, to see what the module gives for it; on the module's device.
        pooling: Of maps, as in `NetworkSettings`; none of these settings may be given for features.
        maps_per_class: As in `NetworkSettings`.
        kmax: As in `NetworkSettings`.
        kmin: As in `NetworkSettings`.
        alpha: As in `NetworkSettings`.
        seed: Of the head's and the method's first weights; the backbone keeps its own.

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
        settings.refuse_pooling("a backbone that gives features, not maps")
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
