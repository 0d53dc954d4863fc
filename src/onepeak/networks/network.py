"""Backbone, head and method in one module."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak._core.check import check_labels
from onepeak._core.tensors import ClassMaps, Evidence, Images, Labels, Outputs, full_precision
from onepeak.errors import InputError
from onepeak.methods import Method
from onepeak.networks.head import MapHead, MeanHead


@final
class Network(nn.Module):
    """The module that is trained: inputs pass through the backbone and the head, and the method reads the outputs.

    The method is part of the network because some methods have weights. The network does not depend on which it is.

    Args:
        backbone: A module from images (batch, 3, height, width) to feature maps (batch, channels, height', width'), or
            from table rows (batch, columns) to features (batch, features).
        head: A module from the backbone's output to (batch, method.num_outputs).
        method: Loss, posterior and prediction.
        notes: Remarks for the user on how the network was built, such as unused tensors of a weight file.
        flips: Whether to predict each image and its mirror image, and return the mean; for the mean of networks.

    Example:
        >>> import onepeak
        >>> from onepeak.networks import MapHead, SmallConvNet, WildcatPooling
        >>> elb = onepeak.method("elb", num_classes=8)
        >>> network = Network(SmallConvNet(), MapHead(128, elb.num_outputs, pooling=WildcatPooling()), elb)
        >>> network(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 8])
    """

    def __init__(
        self,
        backbone: nn.Module,
        head: nn.Module,
        method: Method,
        *,
        notes: tuple[str, ...] = (),
        flips: bool = False,
    ) -> None:
        super().__init__()
        if flips and not isinstance(head, MeanHead):
            raise InputError("`flips` must be false for a network that is no mean of networks, got true.")
        if not isinstance(method, Method):
            raise InputError(f"`method` must be a method, got {type(method).__name__}: see onepeak.method(name, ...).")
        self.backbone = backbone
        self.head = head
        self.method = method
        self.notes = notes
        self.flips = flips

    def forward(self, inputs: Tensor) -> Outputs:
        return self._predicted(inputs, self.backbone(inputs))

    def with_features(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the method's outputs and the features from which the head makes them; of maps, the means."""
        features: Tensor = self.backbone(inputs)
        means = features.flatten(2).mean(dim=-1) if features.ndim > 2 else features
        return self._predicted(inputs, features), means

    def _predicted(self, inputs: Tensor, features: Tensor) -> Tensor:
        outputs = self._outputs_of(features)
        if not self.flips:
            return outputs
        assert isinstance(self.head, MeanHead)
        return self.head.mean([outputs, self._outputs_of(self.backbone(inputs.flip(-1)))])

    def _outputs_of(self, features: Tensor) -> Tensor:
        outputs: Tensor = self.head(features)
        if outputs.ndim != 2 or outputs.shape[1] != self.method.num_outputs:
            raise InputError(
                f"`head` must return shape (batch, {self.method.num_outputs}), as {type(self.method).__name__} reads "
                f"{self.method.num_outputs} outputs per sample, got {tuple(outputs.shape)}."
            )
        return outputs

    @property
    def has_maps(self) -> bool:
        """Whether it has evidence maps: for images through a head with maps, alone or in an ensemble."""
        return isinstance(self.head, MapHead) or (isinstance(self.head, MeanHead) and self.head.has_maps)

    def evidence(self, images: Images) -> Evidence:
        """Returns where each output comes from: its map, which is pooled to the output.

        Args:
            images: A batch of images, as for `forward`.

        Returns:
            Shape (batch, num_outputs, height', width'), in float32 or higher precision. The meaning of an output
            depends on the method; `class_evidence` returns the map of a class for any method.
        """
        return self._evidence(self.backbone(images))

    def _evidence(self, features: Tensor) -> Evidence:
        if not isinstance(self.head, MapHead):
            raise InputError(
                f"`evidence` needs a head with maps, got {type(self.head).__name__}: "
                "only images through a MapHead have evidence maps, tables have none."
            )
        return full_precision(self.head.evidence(features))

    def class_evidence(self, images: Images, labels: Labels) -> ClassMaps:
        """Returns where in each image the evidence for one class lies.

        The method reads every position as if it were a whole image. The map is the score of the class at that position
        minus the mean over all classes, because only differences of scores matter. For methods without class scores
        (levels) it is the log-probability of the class.

        Args:
            images: A batch of images, as for `forward`.
            labels: One class per image: the predicted one, or any other.

        Returns:
            Shape (batch, height', width'), in float32 or higher precision.
        """
        check_labels(labels, self.method.num_classes, images.shape[:1])
        return self.evidence_in(self.backbone(images), labels)

    def evidence_in(self, features: Tensor, labels: Labels) -> ClassMaps:
        """Returns `class_evidence` from what the backbone gives for the images."""
        if isinstance(self.head, MeanHead):
            return self.head.class_evidence(features, labels)
        outputs = self._evidence(features).movedim(1, -1)
        try:
            scores = self.method.class_scores(outputs)
            scores = scores - scores.mean(dim=-1, keepdim=True)
        except InputError:  # the method has no class scores
            scores = self.method.log_probs(outputs)
        chosen = labels.long()[:, None, None, None].expand(*scores.shape[:-1], 1)
        return torch.take_along_dim(scores, chosen, dim=-1).squeeze(-1)
