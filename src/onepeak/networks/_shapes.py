"""Names for what flows through a network; see `onepeak._shapes`."""

from typing import TYPE_CHECKING, TypeAlias

from torch import Tensor

if TYPE_CHECKING:
    Images: TypeAlias = Tensor
    Rows: TypeAlias = Tensor
    Maps: TypeAlias = Tensor
    ClassMaps: TypeAlias = Tensor
else:
    try:
        from jaxtyping import Float
    except ImportError:
        Images = Rows = Maps = ClassMaps = Tensor
    else:
        Images = Float[Tensor, "batch 3 height width"]
        Rows = Float[Tensor, "batch features"]
        Maps = Float[Tensor, "batch channels map_height map_width"]
        ClassMaps = Float[Tensor, "batch map_height map_width"]  # one map a sample
