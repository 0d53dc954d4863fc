import math

import pytest
import torch

import onepeak
from laws.brought import Brought
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import FEATURE_TERMS, is_known, parts_of
from onepeak.methods.feature_terms import Cloc, OrdinalEntropy, RankNContrast, WithFeatureTerm
from reference.features import TERMS

NAMES = [record.name for record in FEATURE_TERMS]


def batch(size=9, num_classes=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(size, 4, generator=generator, dtype=torch.float64)
    return features.requires_grad_(), torch.randint(num_classes, (size,), generator=generator)


def test_rank_n_contrast_worked_by_hand():
    features, labels = torch.tensor([[0.0], [1.0], [3.0]], dtype=torch.float64), torch.tensor([0, 1, 3])
    d01, d02, d12 = 1.0, 3.0, 2.0
    pairs = [  # each distance, and those of the pairs of its anchor that are at least as wide
        (d01, [d01, d02]), (d02, [d02]), (d01, [d01, d12]), (d12, [d12]), (d02, [d02]), (d12, [d12, d02]),
    ]  # fmt: skip
    expected = sum(own + math.log(sum(math.exp(-each) for each in wider)) for own, wider in pairs) / 6
    assert RankNContrast(4, temperature=1.0)(features, labels).item() == pytest.approx(expected)


def test_ordinal_entropy_and_cloc_worked_by_hand():
    # directions (1, 0), (0, 1) of class 0 and (-1, 0) of class 2: the centre of class 0 is in the diagonal
    features = torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]], dtype=torch.float64)
    labels, root = torch.tensor([0, 0, 2]), math.sqrt(0.5)
    tight = 2 * ((1 - root) ** 2 + root**2) / 3
    spread = math.hypot(1 + root, root)
    assert OrdinalEntropy(3)(features, labels).item() == pytest.approx(tight - spread)
    # two triples: the other of class 0 has cosine 0, that of class 2 has -1 and 0; two classes apart
    expected = (max(0, -1 - 0 + 0.6) + max(0, 0 - 0 + 0.6)) / 2
    assert Cloc(3, margin=0.3)(features, labels).item() == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradient_agree_with_the_slow_reference_and_finite_differences(name):
    for seed in range(3):
        features, labels = batch(seed=seed)
        method = onepeak.method(f"ce+{name}", num_classes=5, weight=0.3)
        expected = 0.3 * TERMS[name](features.tolist(), labels.tolist(), 5)
        assert method.feature_loss(features, labels).item() == pytest.approx(expected)
        assert torch.autograd.gradcheck(lambda x, m=method, y=labels: m.feature_loss(x, y), features, fast_mode=True)


@pytest.mark.parametrize("name", NAMES)
def test_one_sample_one_class_and_equal_features_give_finite_numbers(name):
    method = onepeak.method(f"ce+{name}", num_classes=3)
    for labels in ([0], [1, 1], [0, 1, 2], [0, 0, 2]):
        features = torch.zeros(len(labels), 4, requires_grad=True)
        loss = method.feature_loss(features, torch.tensor(labels))
        loss.backward()
        assert loss.isfinite()
        assert features.grad.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_the_device_is_asked_for_no_number_and_brought_none(name):
    method = onepeak.method(f"mv+elb+{name}", num_classes=5).to("meta")
    features = torch.empty(6, 4, device="meta", requires_grad=True)
    with Brought() as brought:
        method.feature_loss(features, torch.empty(6, dtype=torch.int64, device="meta")).backward()
    assert brought.by == []


def test_a_term_changes_neither_loss_nor_answers_and_composes_with_the_rest():
    outputs, labels = torch.randn(6, 5), torch.arange(6) % 5
    plain, with_term = (onepeak.method(name, num_classes=5, t=2.0) for name in ("smooth-mv+elb", "smooth-mv+elb+rnc"))
    assert torch.equal(with_term.loss(outputs, labels), plain.loss(outputs, labels))
    assert torch.equal(with_term.log_probs(outputs), plain.log_probs(outputs))
    assert torch.equal(with_term.predict(outputs), plain.predict(outputs))
    assert (plain.asks_features, with_term.asks_features) == (False, True)
    assert plain.feature_loss(torch.randn(6, 3), labels) == 0
    settings = onepeak.method("mv+rnc+elb", num_classes=5, mean_weight=0.5, t=2.0, weight=0.3, temperature=1.0)
    assert (settings.base.base.mean_weight, settings.base.constraint.t.item()) == (0.5, 2.0)
    assert (settings.term.weight, settings.term.temperature) == (0.3, 1.0)


def test_names_with_terms_are_taken_apart_and_wrong_ones_refused():
    parts = parts_of("mv+elb+rnc")
    assert [parts.record.name, *(each.name for each in parts.added)] == ["mv", "elb", "rnc"]
    assert is_known("smooth-ce+oe")
    assert not is_known("ce+rnc+oe")
    with pytest.raises(UnknownNameError, match=r"Unknown constraint 'rcn'. Did you mean 'rnc'"):
        parts_of("ce+rcn")
    with pytest.raises(InputError, match=r"`weight` is a setting of both 'rps' and 'rnc'"):
        onepeak.method("rps+rnc", num_classes=5, weight=0.1)


@pytest.mark.bad_input
def test_features_without_layers_before_them_are_refused():
    method = onepeak.method("ce+rnc", num_classes=5)
    with pytest.raises(InputError, match=r"must have layers to train before them: features are frozen.*RankNContrast"):
        method.feature_loss(torch.randn(3, 4), torch.arange(3))
    with pytest.raises(InputError, match="`term` must be a RankNContrast or the like, got str"):
        WithFeatureTerm(onepeak.method("ce", 5), "rnc")
    for settings in ({"weight": 0.0}, {"temperature": 0.0}):
        with pytest.raises(InputError, match="must be a finite number > 0"):
            onepeak.method("ce+rnc", num_classes=5, **settings)
