"""The tables for those who come from other packages, against these packages: what is said to be the same is."""

import dlordinal.losses
import dlordinal.metrics
import dlordinal.output_layers
import pytest
import torch
from coral_pytorch.losses import coral_loss
from dlordinal import losses as theirs
from dlordinal.soft_labelling import get_binomial_soft_labels, get_general_triangular_soft_labels

import onepeak
from docs.pages import DOCS
from onepeak.methods.soft_labels import SoftLabels

PAGE = (DOCS / "coming-from.md").read_text()
LABELS = torch.arange(12) % 5
SCORES = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
WEIGHTS = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
CE = torch.nn.CrossEntropyLoss()


def method(name, **settings):
    return onepeak.method(name, num_classes=5, **settings)


def agree(ours, others):
    torch.testing.assert_close(ours.double(), others.double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("package", [theirs, dlordinal.output_layers, dlordinal.metrics])
def test_every_public_name_of_dlordinal_has_its_place(package):
    old = ("CrossEntropyLoss", "FullyConnected", "_to_file")  # deprecated there; whole networks; files
    assert [name for name in package.__all__ if not name.endswith(old) and name not in PAGE] == []


def test_kappa_knows_both_penalties():
    kappa = theirs.WKLoss(5, penalization_type="linear", use_logits=True)
    agree(method("wk", penalty="linear").loss(SCORES, LABELS), kappa(SCORES, LABELS))


TABLE = torch.from_numpy(get_general_triangular_soft_labels(5, [0.05] * 10)).double()


@pytest.mark.parametrize(
    ("ours", "others"),
    [
        (method("sord", distance="absolute", sharpness=0.7), theirs.SORDLoss(0.7, 5, LABELS)),
        (method("soft-exponential", power=1.5, temperature=0.7), theirs.ExponentialLoss(CE, 5, p=1.5, tau=0.7)),
        (method("soft-exponential", mix=0.6), theirs.ExponentialLoss(CE, 5, eta=0.6)),
        (method("soft-geometric", smoothing=0.2), theirs.GeometricLoss(CE, 5, alphas=0.2)),
        (SoftLabels(TABLE), theirs.CustomTargetsLoss(CE, TABLE)),
        (SoftLabels(TABLE), theirs.GeneralTriangularLoss(CE, 5, [0.05] * 10)),
    ],
)
def test_soft_labels_are_the_same_less_the_entropy_of_the_targets(ours, others):
    targets = ours.targets[LABELS]
    agree(ours.loss(SCORES, LABELS), others(SCORES, LABELS) + targets.xlogy(targets).sum(dim=-1).mean())


def test_triangular_targets_differ_at_the_ends_alone():
    others, ours = theirs.TriangularLoss(CE, 5, alpha2=0.1, eta=0.5), method("soft-triangular", outside=0.1, mix=0.5)
    agree(ours.targets[1:-1], ((others.cls_probs + torch.eye(5)) / 2)[1:-1])
    assert (ours.targets[0] - (others.cls_probs + torch.eye(5))[0] / 2).abs().max() > 1e-3


def test_binomial_targets_of_dlordinal_peak_beside_the_label_with_many_classes():
    peaks = torch.from_numpy(get_binomial_soft_labels(30)).argmax(dim=-1)
    assert (peaks != torch.arange(30)).sum() > 20


def test_class_weights_are_the_same_but_for_what_the_mean_divides_by():
    total = WEIGHTS[LABELS].sum() / len(LABELS)
    slace = method("slace", class_weight=WEIGHTS).loss(SCORES, LABELS)
    agree(slace * total, theirs.SLACELoss(1.0, 5, weight=WEIGHTS)(SCORES, LABELS))


def test_class_weights_of_cdw_ce_are_divided_by_their_sum_there():
    total = WEIGHTS[LABELS].sum() / len(LABELS)
    ours = method("cdw-ce", power=2.0, class_weight=WEIGHTS).loss(SCORES, LABELS)
    agree(ours * total / WEIGHTS.sum(), theirs.CDWCELoss(5, alpha=2.0, weight=WEIGHTS)(SCORES, LABELS))


def test_the_sensitivities_of_dlordinal_are_these():
    said = torch.tensor([0, 1, 1, 2, 3, 3, 0, 1, 2, 3, 4, 0])
    others = LABELS.numpy(), said.numpy()
    expected = {
        onepeak.metrics.MinimumSensitivity(num_classes=5): dlordinal.metrics.minimum_sensitivity(*others),
        onepeak.metrics.ExtremeSensitivity(num_classes=5): dlordinal.metrics.mes(*others),
        onepeak.metrics.ExtremeSensitivity(num_classes=5, average="geometric"): dlordinal.metrics.gmsec(*others),
    }
    assert dlordinal.metrics.gmes(*others) == pytest.approx(dlordinal.metrics.gmsec(*others))
    for ours, value in expected.items():
        sure = torch.nn.functional.one_hot(said, 5).float().log_softmax(dim=-1)
        ours.update(sure, LABELS)
        assert ours.compute().item() == pytest.approx(value)


def test_ecoc_is_theirs_summed():
    levels = SCORES[:, :4]
    agree(
        method("ecoc").loss(levels, LABELS, reduction="sum"),
        theirs.OrdinalECOCDistanceLoss(5)(levels.sigmoid(), LABELS),
    )


def test_importance_weights_of_coral_weigh_thresholds_and_class_weights_do_not():
    coral, outputs = method("coral"), SCORES[:, :1]
    above = (LABELS.unsqueeze(-1) > torch.arange(4)).float()
    once = coral_loss(coral.levels(outputs), above, importance_weights=torch.tensor([0.0, 0.0, 0.0, 1.0]))
    last = torch.nn.functional.binary_cross_entropy_with_logits(coral.levels(outputs)[:, 3], above[:, 3])
    agree(once, last)
