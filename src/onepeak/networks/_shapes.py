"""Names for the tensors that flow through a network; see `onepeak._shapes`."""

from typing import TYPE_CHECKING, TypeAlias

from torch import Tensor

if TYPE_CHECKING:
    Images: TypeAlias = Tensor
    Rows: TypeAlias = Tensor
    Features: TypeAlias = Tensor
    Maps: TypeAlias = Tensor
    Evidence: TypeAlias = Tensor
    ClassMaps: TypeAlias = Tensor
else:
    try:
        from jaxtyping import Float
    except ImportError:
        Images = Rows = Features = Maps = Evidence = ClassMaps = Tensor
    else:
        Images = Float[Tensor, "batch 3 height width"]
        Rows = Float[Tensor, "batch columns"]
        Features = Float[Tensor, "batch features"]
        Maps = Float[Tensor, "batch channels map_height map_width"]  # from a backbone
        Evidence = Float[Tensor, "batch outputs map_height map_width"]  # from a head, before pooling
        ClassMaps = Float[Tensor, "batch map_height map_width"]  # one map per sample
