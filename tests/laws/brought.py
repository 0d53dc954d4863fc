"""Notices what a computation brings to its device from the host, for which a GPU stops and cannot be recorded."""

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Brought(TorchDispatchMode):
    """Within, the names of operations that make a tensor of Python numbers or take one from the CPU are kept."""

    def __init__(self):
        super().__init__()
        self.by = []

    def __torch_dispatch__(self, operation, _, args=(), kwargs=None):
        made = operation(*args, **(kwargs or {}))
        on_cpu = any(isinstance(each, Tensor) and each.is_cpu for each in tree_leaves((args, kwargs, made)))
        if on_cpu or operation.overloadpacket.__name__ == "lift_fresh":
            self.by.append(operation.overloadpacket.__name__)
        return made
