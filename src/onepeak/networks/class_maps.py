"""What a method makes of maps of evidence: a score a class in every place, unless that is the same everywhere."""

import torch

from onepeak._shapes import Outputs, Scores
from onepeak.errors import InputError
from onepeak.methods import Method

NO_MAP = (
    "The method gives this class the same score in every place and measures the others against it, so no place of a "
    "picture stands out"
)
"""Why one of `classes_without_map` has none, without its full stop."""
_PROBES = 256
_SPREAD = 10.0
"""Wide enough that every class is the peak of some probes: a method may score its peak alike wherever it lies."""


def place_scores(method: Method, outputs: Outputs) -> Scores:
    """The class scores of outputs; the log-probabilities of a method without class scores.

    Args:
        method: Who reads them.
        outputs: Of any place, in the last dimension.
    """
    try:
        return method.class_scores(outputs)
    except InputError:  # how a method says that it has none
        return method.log_probs(outputs)


@torch.no_grad()
def classes_without_map(method: Method) -> frozenset[int]:
    """The classes whose score is the same whatever the outputs are, as that of the lowest class is where slopes add up.

    Args:
        method: It is tried on random outputs.

    Example:
        >>> import onepeak
        >>> classes_without_map(onepeak.method("slopes", num_classes=4))
        frozenset({0})
        >>> classes_without_map(onepeak.method("elb", num_classes=4))
        frozenset()
    """
    parameter = next(method.parameters(), None)
    probes = _SPREAD * torch.randn(_PROBES, method.num_outputs, generator=torch.Generator().manual_seed(0))
    scores = place_scores(method, probes if parameter is None else probes.to(parameter.device))
    return frozenset(torch.nonzero((scores == scores[0]).all(dim=0)).flatten().tolist())
