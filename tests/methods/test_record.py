import pytest
import torch

from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import CONSTRAINTS, METHODS, method, methods
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.mean_variance import MeanVariance
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord

OUTPUTS = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(20) % 5
CE = CrossEntropy(num_classes=5)


def test_a_reference_names_its_year():
    for record in methods():
        assert record.year is None or str(record.year) in record.reference


def record_of(build, family="plain", num_outputs="c"):
    return MethodRecord(
        name="own", title="own", family=family, reference="here", year=None, num_outputs=num_outputs, build=build
    )


def test_a_record_builds_its_method_without_being_in_the_catalog():
    assert "own" not in METHODS
    assert torch.equal(method(record_of(CrossEntropy), num_classes=5).loss(OUTPUTS, LABELS), CE.loss(OUTPUTS, LABELS))
    settings = {"mean_weight": 0.6, "class_weight": torch.ones(5)}
    assert method(record_of(MeanVariance), num_classes=5, **settings).mean_weight == 0.6
    with pytest.raises(UnknownNameError, match=r"Unknown setting of 'own' 'mean_wieght'. Did you mean 'mean_weight'\?"):
        method(record_of(MeanVariance), num_classes=5, mean_wieght=0.6)


def test_settings_have_their_defaults_and_none_where_there_is_no_default():
    assert METHODS["elb"].defaults == {"t": 1.0, "growth": 1.001, "t_max": 5.0}
    assert METHODS["ren"].defaults == {"posterior": "levels"}  # the variant is given beside the settings
    assert CONSTRAINTS["pn"].defaults == {"weight": 0.01, "slack": 0.1}

    def build(num_classes, *, power, class_weight=None):
        return MeanVariance(num_classes, mean_weight=power, class_weight=class_weight)

    assert record_of(build).defaults == {"power": None}


@pytest.mark.bad_input
def test_a_record_that_tells_another_number_of_outputs_is_refused_where_the_method_is_made():
    message = r"in the record of the method 'own' must agree with the method, which has 5 for 5 classes, got 'c-1'"
    with pytest.raises(InputError, match=message):
        method(record_of(CrossEntropy, num_outputs="c-1"), num_classes=5)
    assert method(record_of(CrossEntropy, num_outputs="one a class"), num_classes=5).num_outputs == 5


@pytest.mark.bad_input
def test_outputs_told_as_a_number_in_place_of_text_are_refused():
    with pytest.raises(InputError, match=r"`num_outputs` of the method 'own' must be text, such as 'c-1', got 5"):
        record_of(CrossEntropy, num_outputs=5)


@pytest.mark.bad_input
def test_a_record_of_an_unknown_family_is_refused():
    with pytest.raises(UnknownNameError, match=r"Unknown `family` 'plian'. Did you mean 'plain'\? Known: plain, dist"):
        record_of(CrossEntropy, family="plian")


@pytest.mark.bad_input
def test_a_method_that_takes_no_class_weights_is_told_how_to():
    class Forgetful(SoftmaxMethod):
        def __init__(self, num_classes, smoothing=0.2):
            super().__init__(num_classes)
            self.smoothing = smoothing

    with pytest.raises(InputError, match=r"`build` of the method 'own' must take `class_weight` and pass it on: def"):
        record_of(Forgetful)


@pytest.mark.bad_input
def test_a_mistyped_decision_is_refused_where_the_method_is_made(monkeypatch):
    class Own(SoftmaxMethod):
        def __init__(self, num_classes, *, label="mode", class_weight=None):
            super().__init__(num_classes, class_weight=class_weight)
            self.decision = label

        def sample_losses(self, outputs, labels):
            return outputs.sum(-1) * labels

    monkeypatch.setattr(METHODS, "_records", {"own": record_of(Own)})
    assert method("own", num_classes=3, label="median").decision == "median"
    with pytest.raises(UnknownNameError, match=r"Unknown `decision` 'mediann'. Did you mean 'median'\? Known: mode, "):
        method("own", num_classes=3, label="mediann")
