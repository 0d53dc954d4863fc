"""ECOC: the levels form a code word, and the class with the nearest code word wins (Barbero-Gómez et al. 2021)."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample, Scores
from onepeak.methods.levels import answers
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.slopes import accumulate


@final
class CodeWords(SoftmaxMethod):
    r"""The code word of class y is y ones and c - 1 - y zeros; the network's sigmoids should be close to it.

    .. math:: \ell = d_y^2, \qquad d_k^2 = \sum_{j=0}^{c-2} (\sigma(o_j) - [j < k])^2, \qquad
              p = \mathrm{softmax}(-d^2)

    The sum is over the levels. Prediction: the nearest code word, as in the paper, which is the mode of the posterior.
    The paper defines no posterior; the softmax is ours. Its scores accumulate slopes between -1 and 1, so it is never
    sharp.

    Example:
        >>> import torch
        >>> ecoc = CodeWords(num_classes=3)
        >>> ecoc.loss(torch.zeros(1, 2), torch.tensor([1]))
        tensor(0.5000)

    Reference: Barbero-Gómez, Gutiérrez, Hervás-Martínez, "Error-correcting output codes in the framework of deep
    ordinal classification", Neural Processing Letters 2022; Allwein, Schapire, Singer, "Reducing multiclass to
    binary", JMLR 2000.
    """

    @property
    def num_outputs(self) -> int:
        return self.num_classes - 1

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        code = answers(labels, self.num_outputs).to(outputs.dtype)
        return (outputs.sigmoid() - code).square().sum(dim=-1)

    def class_scores(self, outputs: Outputs) -> Scores:
        return accumulate(2 * outputs.sigmoid() - 1)


ECOC = MethodRecord(
    name="ecoc",
    title="levels as code words",
    family="levels",
    reference="Barbero-Gómez et al. 2022, Error-correcting output codes in deep ordinal classification",
    num_outputs="c-1",
    build=CodeWords,
)
