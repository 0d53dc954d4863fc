"""A method that the laws do not know yet is told what to write, and where."""

from dataclasses import replace

import pytest
import torch

import reference.methods as reference
from laws.kinds import Kind, firm_outputs, mirror
from onepeak.methods.catalog import METHODS


@pytest.fixture
def kind(monkeypatch):
    """A new method with c-1 outputs, in the catalog and nowhere else."""
    record = replace(METHODS["or-cnn"], name="new")
    monkeypatch.setitem(METHODS._records, "new", record)
    return Kind("new")


def test_a_method_without_a_slow_reference_is_told_what_to_write():
    message = r"'new' has no slow reference\. Write .* \(scores, label, parameters\) .* METHODS at its end, as \"new\":"
    with pytest.raises(LookupError, match=message):
        reference.answers("new", [0.0, 1.0, 0.0], 1, num_classes=3)


@pytest.mark.parametrize("base", ["ce", "rps"])
def test_a_constraint_without_a_slow_reference_is_told_what_to_write(base):
    with pytest.raises(LookupError, match=r"'linear' has no slow reference\. Write .* COSTS there, as \"linear\":"):
        reference.answers(f"{base}+linear", [0.0, 1.0, 0.0], 1, num_classes=3)


def test_other_outputs_than_class_scores_need_a_case_of_their_own(kind):
    with pytest.raises(LookupError, match=r"'new' has c-1 outputs: give it a case in `firm_outputs` of tests/laws"):
        firm_outputs(kind, kind.build(3), 1)
    with pytest.raises(LookupError, match=r"'new' has c-1 outputs: say in MIRRORS of tests/laws/kinds\.py"):
        mirror(kind, torch.zeros(1, 2))
