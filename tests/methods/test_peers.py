"""The third rung of the ladder: other packages that compute the same, and where they are known to differ."""

import math

import numpy as np
import pytest
import torch
from coral_pytorch.dataset import corn_label_from_logits, levels_from_labelbatch, proba_to_label
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import coral_loss, corn_loss
from dlordinal import losses, output_layers, soft_labelling
from sklearn.metrics import cohen_kappa_score
from statsmodels.miscmodels.ordinal_model import OrderedModel
from torch.nn import functional as F

import onepeak
from onepeak.methods import soft_labels
from onepeak.methods.cumulative_link import CumulativeLink
from onepeak.methods.steps import SMALLEST_STEP
from onepeak.posterior import is_unimodal

SCORES = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
LEVELS = SCORES[:, :4]
LABELS = torch.arange(12) % 5
QUESTIONS = (LABELS + 1).clamp(max=4).sum() / len(LABELS)  # asked of a sample by CORN, on average


def agree(got, expected):
    torch.testing.assert_close(got, torch.as_tensor(expected).to(got.dtype), rtol=1e-5, atol=1e-5)


def of(name, **settings):
    return onepeak.method(name, num_classes=5, **settings)


PEERS = [
    ("ce", {}, lambda: F.cross_entropy(SCORES, LABELS)),
    *(("cdw-ce", {"power": a}, lambda a=a: losses.CDWCELoss(5, alpha=a)(SCORES, LABELS)) for a in (0.5, 1.5, 5.0)),
    *(
        ("cdw-ce", {"power": 2.0, "margin": m}, lambda m=m: losses.CDWCELoss(5, alpha=2.0, margin=m)(SCORES, LABELS))
        for m in (0.05, 0.3)
    ),
    *(("slace", {"sharpness": a}, lambda a=a: losses.SLACELoss(a, 5)(SCORES, LABELS)) for a in (0.5, 1.0, 3.0)),
    *(
        ("wk", {"penalty": p}, lambda p=p: losses.WKLoss(5, penalization_type=p, use_logits=True)(SCORES, LABELS))
        for p in ("linear", "quadratic")
    ),
    ("rps", {}, lambda: losses.EMDLoss(5)(SCORES, LABELS)),
    ("mce", {}, lambda: losses.MCELoss(5, use_logits=True)(SCORES, LABELS)),
    ("ecoc", {}, lambda: losses.OrdinalECOCDistanceLoss(5)(LEVELS.sigmoid(), LABELS) / len(LABELS)),
    ("or-cnn", {}, lambda: coral_loss(LEVELS, levels_from_labelbatch(LABELS, 5))),
    ("slopes", {"weight": 0.0, "levels": "logistic"}, lambda: coral_loss(LEVELS, levels_from_labelbatch(LABELS, 5))),
    ("corn", {}, lambda: corn_loss(LEVELS, LABELS, 5) * QUESTIONS),  # theirs divides by the questions asked
]


@pytest.mark.parametrize(("name", "settings", "theirs"), PEERS)
def test_the_loss_is_that_of_the_other_package(name, settings, theirs):
    method = of(name, **settings)
    agree(method.loss(SCORES[:, : method.num_outputs], LABELS), theirs())


@pytest.mark.parametrize("num_classes", [3, 5, 7])
def test_tables_of_soft_labels_are_those_of_dlordinal(num_classes):
    for power, temperature in [(1.0, 1.0), (1.5, 2.0), (2.0, 0.7)]:
        ours = soft_labels.exponential(num_classes, power=power, temperature=temperature).targets
        agree(ours, soft_labelling.get_exponential_soft_labels(num_classes, p=power, tau=temperature))
    for share in (0.05, 0.1, 0.4):
        ours = soft_labels.geometric(num_classes, smoothing=share).targets
        agree(ours, soft_labelling.get_geometric_soft_labels(num_classes, share))
    for outside in (0.01, 0.1):  # the end classes have a share of their own there
        ours = soft_labels.triangular(num_classes, outside=outside).targets
        agree(ours[1:-1], soft_labelling.get_triangular_soft_labels(num_classes, alpha2=outside)[1:-1])
    theirs = torch.as_tensor(soft_labelling.get_beta_soft_labels(num_classes))
    torch.testing.assert_close(soft_labels.beta(num_classes).targets, theirs, atol=0.1, rtol=0)  # a hand-made table


def test_a_loss_of_soft_labels_is_dlordinals_less_the_entropy_of_the_targets():
    ours = of("sord", distance="absolute", sharpness=0.7)
    targets = ours.targets[LABELS]
    theirs = losses.SORDLoss(alpha=0.7, num_classes=5, train_targets=LABELS)(SCORES, LABELS)
    agree(ours.loss(SCORES, LABELS), theirs + targets.xlogy(targets).sum(dim=-1).mean())


def test_layers_of_dlordinal_are_methods_on_what_goes_into_them():
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    binomial = output_layers.BinomialLayer(in_features=3, num_classes=5)
    agree(of("binomial").log_probs(binomial.p_layer(features)).exp(), binomial(features))
    poisson, ours = output_layers.PoissonLayer(in_features=3, num_classes=5), of("poisson")
    for log_temperature in (0.0, -0.7):
        poisson.log_tau.data.fill_(log_temperature)
        ours.log_temperature.data.fill_(log_temperature)
        agree(ours.log_probs(poisson.lambda_layer(features)).exp(), poisson(features))
    fixed, po = output_layers.PoissonLayer(in_features=5, num_classes=5, learn_tau=False), of("po")
    po.rate_layer.load_state_dict(fixed.lambda_layer.state_dict())
    agree(po.log_probs(3 * SCORES).exp(), fixed(3 * SCORES))
    gaussian = output_layers.GaussianUncertaintyLayer(3, 5)
    places = gaussian.mu_layer(features) / 2 - 1  # theirs counts in classes, ours from -1 to 1
    agree(
        of("gaussian").log_probs(torch.cat([places, gaussian.sigma_layer(features)], -1)).exp(), gaussian(features)[0]
    )
    copoc = output_layers.COPOC(phi=lambda step: step.abs() + SMALLEST_STEP)
    start = torch.tensor([-2.0, 1, 1, 1, 1])  # theirs starts at the first class
    agree(of("copoc").log_probs(SCORES), copoc(SCORES + start).log_softmax(dim=-1))


def dlordinal_with(thresholds, link):
    """Their layer with given thresholds, which it keeps as the first and the roots of the steps."""
    layer = output_layers.CLM(num_classes=len(thresholds) + 1, link_function=link)
    layer.thresholds_b_.data = thresholds[:1].detach().clone()
    layer.thresholds_a_.data = thresholds.diff().sqrt().detach().clone()
    return layer


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_a_cumulative_link_is_that_of_dlordinal_and_of_statsmodels(link):
    clm, outputs = CumulativeLink(5, link=link), torch.linspace(-3, 3, 9).unsqueeze(-1)
    agree(clm.log_probs(outputs).exp(), dlordinal_with(clm.thresholds, link)(outputs))
    if link == "cloglog":  # which statsmodels has not
        return
    rng, slopes = np.random.default_rng(0), np.array([0.8, -0.5])
    x, y = rng.normal(size=(40, 2)), np.arange(40) % 5
    expected = OrderedModel(y, x, distr=link).loglike(
        np.concatenate([slopes, [clm.first.item()], clm.log_gaps.detach().numpy()])
    )
    got = clm.double().loss(torch.from_numpy(x @ slopes).unsqueeze(-1), torch.from_numpy(y), reduction="sum")
    assert got.item() == pytest.approx(-expected, rel=1e-6)


def test_coral_is_that_of_coral_pytorch():
    layer, outputs, coral = CoralLayer(size_in=1, num_classes=5), SCORES[:, :1], of("coral")
    layer.coral_weights.weight.data.fill_(1.0)  # so that its input is our output
    logits = layer(outputs)
    agree(coral.levels(outputs), logits)
    agree(coral.loss(outputs, LABELS), coral_loss(logits, levels_from_labelbatch(LABELS, num_classes=5)))
    assert torch.equal(coral.predict(outputs), proba_to_label(logits.sigmoid()))
    assert torch.equal(of("corn").predict(LEVELS), corn_label_from_logits(LEVELS))


def test_the_first_examples_in_the_documentation_of_condor_pytorch():
    outputs = torch.tensor([[2.1, 1.8, -2.1, -1.8], [1.9, -1.0, -1.5, -1.3], [1.9, 1.8, 1.7, 1.6]])
    labels = torch.tensor([2, 1, 4])
    assert of("condor").loss(outputs, labels).item() == pytest.approx(0.8259, abs=1e-4)  # CondorOrdinalCrossEntropy
    assert of("corn").loss(outputs, labels).item() == pytest.approx(0.4936, abs=1e-4)  # condor_negloglikeloss


@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_sure_predictions_give_one_minus_the_kappa_of_scikit_learn(penalty):
    predicted = torch.tensor([0, 1, 1, 3, 4, 0, 2, 4, 4, 3, 1, 2])
    expected = 1 - cohen_kappa_score(LABELS.numpy(), predicted.numpy(), labels=range(5), weights=penalty)
    got = of("wk", penalty=penalty).loss(1e3 * F.one_hot(predicted, 5).double(), LABELS)
    assert got.item() == pytest.approx(expected, rel=1e-6)


# Known disagreements: what is wrong there, or defined in another way


def test_class_distances_are_right_where_dlordinals_are_not_a_number():
    scores, labels = torch.tensor([[100.0, 0.0, 0.0]]), torch.tensor([2])
    assert losses.CDWCELoss(num_classes=3, alpha=1.0)(scores, labels).isnan()
    got = onepeak.method("cdw-ce", num_classes=3, power=1.0).loss(scores, labels)
    assert got.item() == pytest.approx(2 * (100 - math.log(2)))  # 1 - p of the first is 2 e^-100


def test_the_likelihood_of_a_cumulative_link_is_finite_where_dlordinals_is_zero():
    clm = CumulativeLink(4)
    assert dlordinal_with(clm.thresholds, "logit")(torch.tensor([[-30.0]]))[0, -1] == 0
    loss = clm.loss(torch.tensor([[-30.0]]), torch.tensor([3]))
    assert loss.item() == pytest.approx(30 + clm.thresholds[-1].item(), rel=1e-4)


def test_the_logarithm_of_slace_has_no_floor_as_dlordinals_has():
    scores, labels = torch.tensor([[0.0, 0.0, 60.0]]), torch.tensor([0])
    floor, share = math.log(1e-9), 1 / (1 + math.exp(-1) + math.exp(-2))
    theirs = losses.SLACELoss(alpha=1.0, num_classes=3)(scores, labels)
    assert theirs.item() == pytest.approx(-share * (1 + math.exp(-1)) * floor, rel=1e-3)
    ours = onepeak.method("slace", num_classes=3).loss(scores, labels)
    assert ours.item() == pytest.approx(share * (60 + math.exp(-1) * (60 - math.log(2))), rel=1e-5)


def test_binomial_and_poisson_targets_of_dlordinal_peak_beside_the_label_or_are_nearly_uniform():
    assert soft_labelling.get_binomial_soft_labels(70)[0].argmax() == 6
    theirs = soft_labelling.get_poisson_soft_labels(10)
    assert theirs[3][3] == pytest.approx(theirs[3][4])
    assert theirs[3].max() < 1.3 * theirs[3].min()
    ours = soft_labels.poisson_labels(10).targets[3]
    assert ours.max() > 20 * ours.min()


def test_steps_of_zero_leave_one_peak_where_dlordinals_copoc_has_none():
    outputs = torch.tensor([[-0.5, 0.0, 0.0, 0.0]])
    ours = onepeak.method("copoc", num_classes=4).log_probs(outputs + torch.tensor([1.5, -1, -1, -1]))
    assert is_unimodal(ours).all()
    assert not is_unimodal(output_layers.COPOC()(outputs)).any()
