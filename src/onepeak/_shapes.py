"""Types for the tensors that pass between layers.

The tests check these shapes at every call with jaxtyping. Without jaxtyping they are plain tensors.
"""

from typing import TYPE_CHECKING, TypeAlias

from torch import Tensor

if TYPE_CHECKING:
    Outputs: TypeAlias = Tensor
    Scores: TypeAlias = Tensor
    LogProbs: TypeAlias = Tensor
    Labels: TypeAlias = Tensor
    Gaps: TypeAlias = Tensor
    PerSample: TypeAlias = Tensor
    PerSampleBool: TypeAlias = Tensor
    PerClass: TypeAlias = Tensor
    Intervals: TypeAlias = Tensor
    Scalar: TypeAlias = Tensor
else:
    try:
        from jaxtyping import Bool, Float, Integer
    except ImportError:
        Outputs = Scores = LogProbs = Labels = Gaps = PerSample = PerSampleBool = PerClass = Intervals = Scalar = Tensor
    else:
        Outputs = Float[Tensor, "*batch outputs"]  # raw network outputs; only the method interprets them
        Scores = Float[Tensor, "*batch classes"]  # one per class, on any scale
        LogProbs = Float[Tensor, "*batch classes"]  # normalised: logsumexp over classes is 0
        Labels = Integer[Tensor, "*batch"]  # 0 .. num_classes - 1
        Gaps = Float[Tensor, "*batch gaps"]  # one per pair of adjacent classes
        PerSample = Float[Tensor, "*batch"]
        PerSampleBool = Bool[Tensor, "*batch"]
        PerClass = Float[Tensor, "classes"]
        Intervals = Integer[Tensor, "*batch 2"]  # lowest and highest label, both included
        Scalar = Float[Tensor, ""]
