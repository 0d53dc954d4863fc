import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from onepeak.constraints import order_gaps
from onepeak.errors import InputError
from onepeak.methods.reencode import Reencode
from onepeak.methods.slopes import Slopes
from onepeak.posterior import median


@pytest.mark.parametrize(
    ("outputs", "corrected", "published"),
    [
        ([3.0, 2.0, 1.0, -1.0], 2, 2),
        ([3.0, 2.0, 1.0, 1.0], 3, 3),  # none below one half
        ([-1.0, 2.0, 1.0, -1.0], 2, 0),  # the first below: published, 0; corrected, that question is not asked
        ([-1.0, -1.0, -1.0, -1.0], 0, 0),
        ([1.0, -1.0, 5.0, 5.0], 0, 0),
        ([1.0, 0.0, -1.0, 5.0], 1, 1),  # exactly one half is not below it
    ],
)
def test_the_class_before_the_first_level_under_one_half_is_predicted(outputs, corrected, published):
    outputs = torch.tensor([outputs])
    assert Reencode(num_classes=4).predict(outputs).tolist() == [corrected]
    assert Reencode(num_classes=4, variant="as_published").predict(outputs).tolist() == [published]


@given(logits=st.lists(st.floats(-30, 30), min_size=1, max_size=12))
def test_the_prediction_is_the_median_of_the_posterior(logits):
    assume(all(abs(logit) > 1e-6 for logit in logits))  # at one half exactly either neighbour is a median
    outputs = torch.tensor([[0.0, *logits]], dtype=torch.float64)
    ren = Reencode(num_classes=len(logits) + 1)
    assert ren.decision == "median"
    assert torch.equal(ren.predict(outputs), median(ren.log_probs(outputs)))


def test_at_one_half_exactly_the_prediction_is_the_upper_median():
    ren, outputs = Reencode(num_classes=5), torch.zeros(1, 5)
    probs = ren.log_probs(outputs).exp()
    at_most, at_least = probs.cumsum(dim=-1)[0, 4], probs[0, 4:].sum()
    assert ren.predict(outputs).tolist() == [4]
    assert (at_most, at_least) == (1, 0.5)  # half of the probability on either side, and nothing above


def test_read_as_slopes_it_is_slopes_without_the_first_output():
    outputs = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    ren, slopes = Reencode(num_classes=8, posterior="slopes"), Slopes(num_classes=8)
    assert torch.equal(ren.log_probs(outputs), slopes.log_probs(outputs[:, 1:]))
    assert torch.equal(ren.predict(outputs), slopes.predict(outputs[:, 1:]))
    assert torch.equal(ren.class_scores(outputs), slopes.class_scores(outputs[:, 1:]))


@pytest.mark.parametrize("num_classes", [2, 5, 22, 70])
def test_as_published_an_ideal_answer_is_in_order_only_above_its_label(num_classes):
    labels = torch.arange(num_classes)
    # levels as they should be, 1 up to the label and 0 after, falling a little all the way as trained ones do
    ideal = torch.where(torch.arange(num_classes) <= labels.unsqueeze(-1), 8.0, -8.0) - 0.01 * torch.arange(num_classes)
    ren = Reencode(num_classes, variant="as_published")
    predicted = ren.predict(ideal)
    assert torch.equal(predicted, labels)
    share = (order_gaps(ren.log_probs(ideal), predicted) < 0).double().mean(dim=-1)
    expected = (num_classes - 1 - labels) / (num_classes - 1)
    torch.testing.assert_close(share, expected.double(), rtol=0, atol=1e-6)
    # read as slopes the very same outputs are in order throughout
    slopes = Reencode(num_classes, posterior="slopes")
    assert (order_gaps(slopes.log_probs(ideal), slopes.predict(ideal)) < 0).all()


@pytest.mark.bad_input
def test_the_published_code_has_no_slopes():
    with pytest.raises(InputError, match=r"`posterior` must be 'levels' with variant='as_published', got 'slopes'\."):
        Reencode(num_classes=4, posterior="slopes", variant="as_published")
