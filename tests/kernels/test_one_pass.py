import pytest
import torch

from onepeak.kernels import launch, one_pass


class Cubes(one_pass.PassTerms):
    """The sum of cubes times a number that may grow, with its gradient written out; counts how often it is asked."""

    def __init__(self, factor):
        self.factor, self.asked = factor, []

    def frozen(self):
        terms = Cubes(self.factor.clone())
        terms.asked = self.asked
        return terms

    def loss_and_gradient(self, scores, labels):
        self.asked.append(len(labels))
        share = self.factor / len(scores)
        return share * scores.pow(3).sum(), 3 * share * scores.square()


def plain(scores, labels):
    return scores.pow(3).sum(dim=-1)


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    monkeypatch.setattr(one_pass, "LARGE", 0 if request.param == "large" else 1 << 30)
    monkeypatch.setattr(launch, "scale", lambda gradient, factor: gradient.mul_(factor))  # in place, as the kernel does
    return request.param


def test_the_gradient_made_with_the_value_is_the_one_given(size):
    scores, labels, terms = torch.randn(4, 3, requires_grad=True), torch.zeros(4), Cubes(torch.tensor(1.0))
    (2 * one_pass.mean_loss(scores, labels, terms, plain)).backward()
    torch.testing.assert_close(scores.grad, 2 * 3 * scores.detach().square() / 4)
    assert terms.asked == [4]


def test_a_second_backward_is_that_of_the_terms_as_they_were(size):
    scores, terms = torch.randn(4, 3, requires_grad=True), Cubes(torch.tensor(1.0))
    loss = one_pass.mean_loss(scores, torch.zeros(4), terms, plain)
    (once,) = torch.autograd.grad(loss, scores, retain_graph=True)
    once = once.clone()
    terms.factor.mul_(5)
    (again,) = torch.autograd.grad(-loss, scores)
    torch.testing.assert_close(again, -once)


def test_leading_axes_are_samples_and_half_precision_gets_its_own_dtype_back(size):
    scores = torch.randn(2, 2, 3, dtype=torch.float16, requires_grad=True)
    one_pass.mean_loss(scores, torch.zeros(2, 2), Cubes(torch.tensor(1.0)), plain).backward()
    assert scores.grad.dtype == torch.float16
    torch.testing.assert_close(scores.grad, (3 * scores.detach().square() / 4))


def test_a_derivative_of_the_derivative_comes_from_the_plain_form(size):
    scores = torch.randn(4, 3, requires_grad=True)
    loss = one_pass.mean_loss(scores, torch.zeros(4), Cubes(torch.tensor(1.0)), plain)
    (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), scores)
    torch.testing.assert_close(curvature, 6 * scores.detach() / 4)
