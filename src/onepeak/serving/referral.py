"""Sets a referral policy on labelled data, keeps it with a model, and says what it costs and what it saves."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from onepeak._core.digests import change_listed
from onepeak._core.formats import json_text
from onepeak._core.wording import counted
from onepeak.errors import InputError
from onepeak.posterior import sizes
from onepeak.posterior.predictions import Combine, Predictions
from onepeak.posterior.referral import (
    Policy,
    Uncertainty,
    area_under_roc,
    error_threshold,
    risk_coverage,
    sensitivity_threshold,
    uncertainties,
    uncertainty_of,
)

FILE = "policy.json"


@dataclass(frozen=True, kw_only=True)
class Option:
    """What one uncertainty would give."""

    policy: Policy | None
    """None if no threshold holds the promise on these samples."""
    auroc: float
    """How often a sample that counts (at least the class, or wrong) is less sure than another."""
    referred: float
    """Share of samples; 1 without a policy."""
    sensitivity: float
    """Share of samples of at least the class that are referred; NaN without one."""
    error: float
    """Share of wrong predictions among those not referred; NaN if all are."""


@dataclass(frozen=True, kw_only=True)
class Referral:
    """What a policy would cost on some samples, by each uncertainty."""

    options: dict[Uncertainty, Option]
    rule: Option
    """For comparison: refer all whose interval holds several classes, who are paradoxical or unlike the training."""
    curve: dict[Uncertainty, list[tuple[float, float]]]
    """The share that is not referred, and the share of those that is wrong (or at least the class), in 20 steps."""
    num_samples: int
    num_counting: int
    """How many are at least the class, or wrong."""
    unit: Literal["sample", "group"] = "sample"
    """What is counted."""

    def chosen(self, by: Uncertainty) -> Policy:
        """Returns the policy by one uncertainty.

        Raises:
            InputError: No threshold holds the promise.
        """
        option = self.options.get(by)
        if option is None or option.policy is None:
            raise InputError(
                f"No threshold by {by} holds this on {counted(self.num_samples, self.unit)}, {self.num_counting} of "
                "which count: give more data, or ask for less.",
                argument="data",
            )
        return option.policy


def refer(
    found: Predictions,
    *,
    at_least: int | None = None,
    sensitivity: float = 0.95,
    error: float | None = None,
    confidence: float = 0.95,
    combine: Combine | None = None,
) -> Referral:
    """Finds, for each uncertainty, the policy that refers the fewest samples and holds the promise with confidence.

    As `Policy.reasons` does, all refer what is unlike the training; the threshold is for the other samples. The
    promise needs independent samples: where a patient has several, give one prediction per patient.

    Args:
        found: Predictions with their truth, for samples that the model was not trained on.
        at_least: The lowest class that must not be missed: a share `sensitivity` of its samples must be referred.
        sensitivity: That share.
        error: Instead of a class: the largest share of wrong predictions among those not referred.
        confidence: How sure it must be that the promise holds for samples like these.
        combine: How samples were combined, if these are predictions of groups; the policy then is for such.
    """
    if (at_least is None) == (error is None):
        raise InputError("Give either `at_least`, a class that must not be missed, or `error`, a share of predictions.")
    wrong = found.predicted_index != found.truth
    unlike = torch.tensor([bool(each) for each in found.unlike] or [False] * len(found), dtype=torch.bool)
    counts = wrong if at_least is None else found.truth >= at_least
    options, curve, of_groups = {}, {}, "" if combine is None else f" (each group by the {combine} of its samples)"
    for name in uncertainties(found):
        values = uncertainty_of(found, name, at_least=at_least).masked_fill(unlike, math.inf)  # always referred
        usual, usual_counts = values[~unlike], counts[~unlike]
        if at_least is None:
            assert error is not None
            threshold = error_threshold(usual, usual_counts, error, confidence=confidence)
            promise = f"at most {error:.1%} of the predictions not referred are wrong"
        else:
            threshold = sensitivity_threshold(usual, usual_counts, sensitivity, confidence=confidence)
            lowest = found.classes[at_least]
            promise = f"at least {sensitivity:.1%} of {lowest} or above are referred"
        promise += f"{of_groups}, with {confidence:.0%} confidence"
        policy = None
        if threshold is not None:
            policy = Policy(uncertainty=name, threshold=threshold, at_least=at_least, promise=promise, combine=combine)
        referred = values >= (-math.inf if threshold is None else threshold)
        auroc = area_under_roc(values, counts)
        options[name] = Option(policy=policy, auroc=auroc, **_shares(referred, counts, wrong, at_least))
        answered, risk = risk_coverage(values, counts)
        places = [len(answered) * step // 20 - 1 for step in range(1, 21) if len(answered) * step // 20]
        curve[name] = [(float(answered[place]), float(risk[place])) for place in places]
    several = found.paradoxical | unlike
    if found.intervals is not None:
        several |= sizes(found.intervals) > 1
    shares = _shares(several, counts, wrong, at_least)
    if at_least is not None:  # what is answered as at least the class is treated, and so not missed
        caught = several | (found.predicted_index >= at_least)
        shares["sensitivity"] = float(caught[counts].double().mean())
    rule = Option(policy=None, auroc=math.nan, **shares)
    return Referral(
        options=options,
        rule=rule,
        curve=curve,
        num_samples=len(found),
        num_counting=int(counts.sum()),
        unit="sample" if combine is None else "group",
    )


def _shares(referred: Tensor, counts: Tensor, wrong: Tensor, at_least: int | None) -> dict[str, float]:
    return {
        "referred": float(referred.double().mean()),
        "sensitivity": math.nan if at_least is None else float(referred[counts].double().mean()),
        "error": float(wrong[~referred].double().mean()),
    }


def save_policy(folder: Path, policy: Policy) -> None:
    """Keeps a policy in the model's folder, in place of an earlier one."""
    content = {**asdict(policy), "threshold": policy.threshold if math.isfinite(policy.threshold) else None}
    change_listed(folder, FILE, json_text(content))


def load_policy(folder: Path) -> Policy | None:
    """Reads the policy of a model; None if it has none."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        content["threshold"] = math.inf if content["threshold"] is None else float(content["threshold"])
        return Policy(**content)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} must be a policy that onepeak wrote, got one that cannot be read: {error}.") from None
