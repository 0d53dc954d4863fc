"""The kinds of method that the laws go over, and what the laws must know of each: firm outputs, mirrored outputs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

import onepeak
from onepeak.methods.catalog import METHODS
from onepeak.methods.smoothed import smoothed


@dataclass(frozen=True)
class Kind:
    """A method by name and settings, before the number of classes is known."""

    name: str
    variant: str = "corrected"
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def base(self):
        return METHODS[self.name.partition("+")[0]]

    def build(self, num_classes, **more):
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)  # PO starts from random weights; torch's own call takes milliseconds
            return onepeak.method(self.name, num_classes=num_classes, variant=self.variant, **self.settings, **more)

    def __str__(self):
        settings = [f"{key}={value}" for key, value in self.settings.items()]
        return " ".join([self.name, *([self.variant] if self.variant != "corrected" else []), *settings])


def over(kinds):
    """Makes one test of a law for every kind: starting a test takes longer than most laws. A failure names the kind."""

    def decorate(law):
        def test():
            for kind in kinds:
                try:
                    law(kind)
                except BaseException as error:
                    error.add_note(f"The method: {kind}.")
                    raise

        test.__name__, test.__doc__ = law.__name__, law.__doc__
        test.pytestmark = getattr(law, "pytestmark", [])
        return test

    return decorate


CATALOG = [Kind(record.name) for record in METHODS]
PUBLISHED = [Kind(record.name, "as_published") for record in METHODS if record.as_published == "differs"]
READINGS = [Kind("ren", settings={"posterior": "slopes"}), Kind("slopes", settings={"levels": "logistic"})]
UNDER_CONSTRAINT = [  # some of each kind; all the others are put under each constraint in one law of their own
    Kind("ren+elb", settings={"posterior": "slopes"}),
    *(Kind(name) for name in ("mv+elb", "po+elb", "slopes+elb", "rps+elb", "ld+pn", "mv+pn", "po+pn")),
]
CONSTRAINABLE = [
    Kind("ren", settings={"posterior": "slopes"}) if kind.name == "ren" else kind
    for kind in CATALOG
    if kind.base.family != "constraint"
]
BATCHWISE = {"wk"}
"""Their loss is one of a batch: the reference of one sample does not know it."""
KINDS = [*CATALOG, *PUBLISHED, *READINGS, *UNDER_CONSTRAINT]
CORRECTED = [*CATALOG, *READINGS, *UNDER_CONSTRAINT]
UNIMODAL = [kind for kind in [*CATALOG, *UNDER_CONSTRAINT] if kind.base.unimodal]


def own_parameters(method):
    """The parameters of a method by name, as lists."""
    return {name: parameter.tolist() for name, parameter in method.named_parameters()}


def firm_outputs(kind, method, label):
    """Outputs that say one label firmly and in order; the method's own parameters are set to let them."""
    num_classes = method.num_classes
    own = method.base if "+" in kind.name else method
    slopes = torch.where(torch.arange(num_classes - 1) < label, 9.0, -9.0).double()
    match kind.base.name:
        case "ren":
            return torch.cat([torch.tensor([9.0], dtype=torch.float64), slopes])
        case "slopes" | "or-cnn" | "frank-hall" | "ecoc":
            return slopes
        case "smooth-slopes":
            return torch.linalg.solve(smoothed(torch.eye(num_classes - 1, dtype=torch.float64)).T, slopes)
        case "peak":
            scores = -4.0 * (torch.arange(num_classes) - label).abs().double()
            return torch.linalg.solve(smoothed(torch.eye(num_classes, dtype=torch.float64)).T, scores)
        case "corn" | "condor":
            return steps_to(label, num_classes)
        case "coral":  # levels 18 apart, the label's own 9 below zero
            own.biases.data.copy_(-9 - 18 * torch.arange(num_classes - 1))
            return torch.tensor([18.0 * label], dtype=torch.float64)
        case "clm" | "clm-probit" | "clm-cloglog" | "clm-loglog" | "clm-cauchit" | "at-hinge" | "it-hinge":
            line = getattr(own, "line", own)  # classes 18 wide, the output in the middle of the label's
            line.first.data.fill_(9.0)
            line.log_gaps.data.fill_(math.log(18.0))
            return torch.tensor([18.0 * label], dtype=torch.float64)
        case "soft-binomial" | "soft-poisson":  # so wide that no firmer posterior is their own
            return own.targets[label].log()
        case "regression" | "ot-normal":
            return torch.tensor([2 * label / (num_classes - 1) - 1], dtype=torch.float64)
        case "gaussian":
            return torch.tensor([2 * label / (num_classes - 1) - 1, -2.0], dtype=torch.float64)
        case "binomial":  # the chance of which the label is the mode, and sharp
            own.log_temperature.data.fill_(-3.0)
            return torch.tensor([(label + 0.5) / num_classes], dtype=torch.float64).logit()
        case "poisson":
            own.log_temperature.data.fill_(-3.0)
            return torch.tensor([label + 0.5], dtype=torch.float64).expm1().log()
        case "stick-breaking":
            return -steps_to(label, num_classes)
        case "copoc":  # places 4 apart, the label's at zero
            return torch.tensor([(num_classes - 1) / 2 - 4.0 * label] + [3.0] * (num_classes - 1), dtype=torch.float64)
        case "unimodal-net":  # a step that no sum of the others reaches
            return torch.where(torch.arange(num_classes) == label, 100.0, 4.0).double()
        case "po":  # rate label + 1/2, whose mode is the label
            own.rate_layer.weight.data.fill_(1 / num_classes)
            own.rate_layer.bias.data.zero_()
            return torch.full((num_classes,), label + 0.5, dtype=torch.float64).expm1().log()
        case _ if kind.base.num_outputs != "c":
            raise LookupError(
                f"{kind.base.name!r} has {kind.base.num_outputs} outputs: give it a case in `firm_outputs` of "
                "tests/laws/kinds.py, the outputs by which it says a label firmly."
            )
        case _:
            return -4.0 * (torch.arange(num_classes) - label).abs().double()


def steps_to(label, num_classes):
    """The logits of "above k, if at least k" of a posterior that falls by 4 a class."""
    log_probs = -4.0 * (torch.arange(num_classes) - label).abs().double()
    log_above = log_probs.flip(-1).logcumsumexp(dim=-1).flip(-1)
    return log_above[1:] - log_probs[:-1]


def flipped(outputs):
    return outputs.flip(-1)


def flipped_and_negated(outputs):
    return -outputs.flip(-1)


MIRRORS = {
    "slopes": flipped_and_negated,
    "smooth-slopes": flipped_and_negated,
    "regression": torch.neg,
    "po": None,  # counts up from zero
    "soft-poisson": None,
    "poisson": None,
    "binomial": torch.neg,
    "gaussian": lambda outputs: outputs * outputs.new_tensor([-1.0, 1.0]),
    "stick-breaking": None,
    "copoc": None,  # the first output is a place, the others are steps
    "clm": torch.neg,
    "clm-probit": torch.neg,
    "clm-cloglog": None,  # its link is steeper on one side
    "clm-loglog": None,
    "clm-cauchit": torch.neg,
    "at-hinge": torch.neg,
    "it-hinge": torch.neg,
    "ot-normal": torch.neg,
    "ecoc": flipped_and_negated,
    "or-cnn": None,  # levels that do not agree are read from the first on
    "frank-hall": None,
    "coral": None,  # its first biases are not the same from both ends
    "corn": None,  # each question is asked of those above the one before
    "condor": None,
    "ren": None,  # the first of its questions is no question
}
"""How the outputs of a method look when the scale is reversed; flipped where nothing is said, None where the method is
not the same from both ends."""

MIRRORED = [kind for kind in KINDS if MIRRORS.get(kind.base.name, flipped) is not None]


def mirror(kind, outputs):
    if kind.base.name not in MIRRORS and kind.base.num_outputs != "c":
        raise LookupError(
            f"{kind.base.name!r} has {kind.base.num_outputs} outputs: say in MIRRORS of tests/laws/kinds.py how they "
            "look when the scale is reversed, or None where the method is not the same from both ends."
        )
    return MIRRORS.get(kind.base.name, flipped)(outputs)
