"""The settings of a network as plain values: a model bundle stores them as JSON and rebuilds the network from them."""

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from onepeak._check import check_choice, check_integer
from onepeak.errors import InputError
from onepeak.networks.own_backbone import is_own
from onepeak.networks.pooling import WildcatPooling

PoolingName: TypeAlias = Literal["wildcat", "average", "max"]

_OF_WILDCAT = ("maps_per_class", "kmax", "kmin", "alpha")
_OF_MAPS = ("pooling", *_OF_WILDCAT)
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
    maps_per_class: int = 5
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # JSON gives a list
        check_choice("pooling", self.pooling, get_args(PoolingName))
        if self.backbone == "mlp":
            self._refuse(_OF_MAPS, "backbone='mlp'")
            if self.num_features is None:
                raise InputError("`num_features` must be given with backbone='mlp': the number of table columns.")
            return  # Mlp checks the values it takes
        own = is_own(self.backbone)
        self._refuse(_OF_MLP if own else _OF_TABLES, f"backbone={self.backbone!r}")
        if own and self.num_features is not None:
            self.refuse_pooling("rows of a table")
        if self.pooling != "wildcat":
            self._refuse(_OF_WILDCAT, f"pooling={self.pooling!r}")
        check_integer("maps_per_class", self.maps_per_class, minimum=1)
        WildcatPooling(kmax=self.kmax, kmin=self.kmin, alpha=self.alpha)

    def refuse_pooling(self, chosen: str) -> None:
        """Raises an error if pooling settings are given although there are no maps to pool.

        Args:
            chosen: What the network has instead, for the message.
        """
        self._refuse(_OF_MAPS, chosen)

    def _refuse(self, names: tuple[str, ...], chosen: str) -> None:
        """Raises an error if a setting in `names` is not at its default."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in names and value != field.default:
                raise InputError(f"`{field.name}` does nothing with {chosen}, got {value!r}: leave it out.")
