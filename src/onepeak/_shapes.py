"""Names for the tensors that pass between parts: what a tensor is, is its type.

The tests check these shapes at every call (jaxtyping); where jaxtyping is not installed they are plain tensors.
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
        Outputs = Float[Tensor, "*batch outputs"]  # what the network gives, read only by its method
        Scores = Float[Tensor, "*batch classes"]  # one number a class, any scale
        LogProbs = Float[Tensor, "*batch classes"]  # normalised: logsumexp over classes is 0
        Labels = Integer[Tensor, "*batch"]  # 0 .. num_classes - 1
        Gaps = Float[Tensor, "*batch gaps"]  # one number a pair of adjacent classes
        PerSample = Float[Tensor, "*batch"]
        PerSampleBool = Bool[Tensor, "*batch"]
        PerClass = Float[Tensor, "classes"]
        Intervals = Integer[Tensor, "*batch 2"]  # the lowest and the highest label within
        Scalar = Float[Tensor, ""]
