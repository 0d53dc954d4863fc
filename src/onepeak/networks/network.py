"""Backbone, head and method as one module."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak._check import check_labels
from onepeak._precision import full_precision
from onepeak._shapes import Labels, Outputs
from onepeak.errors import InputError
from onepeak.methods import Method
from onepeak.networks._shapes import ClassMaps, Evidence, Images
from onepeak.networks.head import MapHead


@final
class Network(nn.Module):
    """What is trained: inputs go through the backbone and the head; the method reads what comes out.

    The method is a part of the network because some have weights of their own. The network does not look into it.

    Args:
        backbone: Pictures (batch, 3, height, width) to feature maps (batch, channels, height', width'), or table rows
            (batch, columns) to features (batch, features).
        head: What the backbone gives, to (batch, method.num_outputs).
        method: Loss, posterior and prediction.
        notes: What the user should know of how it was made, such as what of a weight file was not used.

    Example:
        >>> import onepeak
        >>> from onepeak.networks import MapHead, SmallConvNet, WildcatPooling
        >>> elb = onepeak.method("elb", num_classes=8)
        >>> network = Network(SmallConvNet(), MapHead(128, elb.num_outputs, pooling=WildcatPooling()), elb)
        >>> network(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 8])
    """

    def __init__(self, backbone: nn.Module, head: nn.Module, method: Method, *, notes: tuple[str, ...] = ()) -> None:
        super().__init__()
        if not isinstance(method, Method):
            raise InputError(f"`method` must be a method, got {type(method).__name__}: see onepeak.method(name, ...).")
        self.backbone = backbone
        self.head = head
        self.method = method
        self.notes = notes

    def forward(self, inputs: Tensor) -> Outputs:
        """The method's outputs, one row a sample."""
        outputs: Tensor = self.head(self.backbone(inputs))
        if outputs.ndim != 2 or outputs.shape[1] != self.method.num_outputs:
            raise InputError(
                f"`head` must give shape (batch, {self.method.num_outputs}), as {type(self.method).__name__} reads "
                f"{self.method.num_outputs} numbers a sample, got {tuple(outputs.shape)}."
            )
        return outputs

    def evidence(self, images: Images) -> Evidence:
        """Where each output comes from: its map before pooling, which pooled is the output.

        Args:
            images: As for the network.

        Returns:
            Shape (batch, num_outputs, height', width'), float32 at least. What an output means is the method's matter;
            `class_evidence` has one map for a class, whatever the method.
        """
        if not isinstance(self.head, MapHead):
            raise InputError(
                f"`evidence` needs a head with maps, got {type(self.head).__name__}: "
                "only pictures through a MapHead have evidence maps, tables have none."
            )
        return full_precision(self.head.evidence(self.backbone(images)))

    def class_evidence(self, images: Images, labels: Labels) -> ClassMaps:
        """Where one class of each picture comes from.

        Every position is read by the method as if it were a whole picture: the map is the score of the class there less
        the mean over all classes, since only differences of scores count. Methods without class scores (levels) show
        the log-probability of the class.

        Args:
            images: As for the network.
            labels: The class asked about, one a picture: the one predicted, or any other to see what speaks for it.

        Returns:
            Shape (batch, height', width'), float32 at least.
        """
        check_labels(labels, self.method.num_classes, images.shape[:1])
        outputs = self.evidence(images).movedim(1, -1)
        try:
            scores = self.method.class_scores(outputs)
            scores = scores - scores.mean(dim=-1, keepdim=True)
        except InputError:  # how a method says that it has none
            scores = self.method.log_probs(outputs)
        chosen = labels.long()[:, None, None, None].expand(*scores.shape[:-1], 1)
        return torch.take_along_dim(scores, chosen, dim=-1).squeeze(-1)
