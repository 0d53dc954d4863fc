"""What is trained and how, and the fingerprint that ties a checkpoint to its run."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak.data.splits import Split
from onepeak.methods.method import Variant
from onepeak.networks.build import NetworkSettings
from onepeak.networks.own_backbone import source_digest
from onepeak.training.checkpoint import HASH
from onepeak.training.prepare import Prepared
from onepeak.training.recipe import Recipe

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What is trained and how; together with the data and the split it determines every bit of the outcome."""

    method: str
    variant: Variant = "corrected"
    method_settings: dict[str, Any] = field(default_factory=dict)
    network: NetworkSettings
    weights: Path | None = None
    """A local file with initial weights for the backbone."""
    recipe: Recipe
    seed: int = 0

    def selection(self, data: str) -> str:
        """Returns the metric that chooses the epoch; "as_published" is the published code's choice for each method."""
        if self.recipe.select != "as_published":
            return self.recipe.select
        return published_selection(data, self.method)


def published_selection(data: str, method: str) -> str:
    """Returns the metric by which the paper's code chooses the epoch of a method on a data set."""
    if method not in ("pn", "elb"):
        return "loss"
    return "accuracy" if data in ("iciar", "hci") else "mae"


def fingerprint(settings: RunSettings, prepared: Prepared, split: Split, fabric: "Fabric") -> dict[str, str]:
    """Returns everything that determines a run's outcome, except library versions: settings, and hashes of content."""
    weights = None if settings.weights is None else settings.weights.read_bytes()
    written = source_digest(settings.network.backbone)
    return {
        **_by_name({name: value for name, value in asdict(settings).items() if name != "weights"}),
        "precision": str(fabric._precision.precision),
        "processes": str(fabric.world_size),
        "device": fabric.device.type,
        "weights": "None" if weights is None else _hash([weights]),
        **({} if written is None else {"network.source": HASH + written}),
        "data": _hash([prepared.manifest.labels.tobytes(), *(item.encode() for item in prepared.digests)]),
        "split": _hash(part.tobytes() for part in (split.train, split.valid, split.test)),
    }


def _by_name(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Flattens nested settings to names such as `recipe.lr`."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= _by_name(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: repr(value)}
    return found


def _hash(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in content:
        digest.update(len(part).to_bytes(8, "little") + part)
    return HASH + digest.hexdigest()
