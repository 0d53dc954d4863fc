"""Types for the tensors that pass between layers, and the precision of losses and metrics."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor

if TYPE_CHECKING:
    Outputs: TypeAlias = Tensor
    Scores: TypeAlias = Tensor
    LogProbs: TypeAlias = Tensor
    Labels: TypeAlias = Tensor
    LabelProbs: TypeAlias = Tensor
    Gaps: TypeAlias = Tensor
    PerSample: TypeAlias = Tensor
    PerSampleBool: TypeAlias = Tensor
    PerClass: TypeAlias = Tensor
    Intervals: TypeAlias = Tensor
    Scalar: TypeAlias = Tensor
    Images: TypeAlias = Tensor
    Rows: TypeAlias = Tensor
    Features: TypeAlias = Tensor
    Maps: TypeAlias = Tensor
    Evidence: TypeAlias = Tensor
    ClassMaps: TypeAlias = Tensor
else:
    try:
        from jaxtyping import Bool, Float, Integer
    except ImportError:
        Outputs = Scores = LogProbs = Labels = LabelProbs = Gaps = PerSample = PerSampleBool = PerClass = Tensor
        Intervals = Scalar = Images = Rows = Features = Maps = Evidence = ClassMaps = Tensor
    else:
        Outputs = Float[Tensor, "*batch outputs"]  # raw network outputs; only the method interprets them
        Scores = Float[Tensor, "*batch classes"]  # one per class, on any scale
        LogProbs = Float[Tensor, "*batch classes"]  # normalised: logsumexp over classes is 0
        Labels = Integer[Tensor, "*batch"]  # 0 .. num_classes - 1
        LabelProbs = Float[Tensor, "*batch classes"]  # a distribution over the labels, in place of one
        Gaps = Float[Tensor, "*batch gaps"]  # one per pair of adjacent classes
        PerSample = Float[Tensor, "*batch"]
        PerSampleBool = Bool[Tensor, "*batch"]
        PerClass = Float[Tensor, "classes"]
        Intervals = Integer[Tensor, "*batch 2"]  # lowest and highest label, both included
        Scalar = Float[Tensor, ""]
        Images = Float[Tensor, "batch 3 height width"]
        Rows = Float[Tensor, "batch columns"]
        Features = Float[Tensor, "batch features"]
        Maps = Float[Tensor, "batch channels map_height map_width"]  # from a backbone
        Evidence = Float[Tensor, "batch outputs map_height map_width"]  # from a head, before pooling
        ClassMaps = Float[Tensor, "batch map_height map_width"]  # one map per sample


def full_precision(tensor: Tensor) -> Tensor:
    """Half precision as float32, which sums over many classes and differences of close scores need."""
    return tensor.float() if tensor.dtype.itemsize < 4 else tensor


def real_tensors() -> AbstractContextManager[object]:
    """Makes tensors on the CPU where the default device is meta.

    Large models are often built on the meta device and filled from a checkpoint later (`from_pretrained` of Hugging
    Face, FSDP). A checkpoint of the backbone holds no t of a barrier and no table of weights: they would stay
    uninitialised memory.

    Example:
        >>> with torch.device("meta"), real_tensors():
        ...     torch.ones(2)
        tensor([1., 1.])
    """
    return torch.device("cpu") if torch.get_default_device().type == "meta" else nullcontext()
