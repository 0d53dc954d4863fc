"""The scikit-learn estimator: any method of the catalog on a table, with all of scikit-learn's tools."""

from onepeak._core.imports import require

require("sklearn", extra="sklearn", purpose="OrdinalClassifier")  # before the imports below fail without it

from onepeak.estimator.classifier import OrdinalClassifier  # noqa: E402
from onepeak.estimator.scorers import neg_mae, neg_rps, qwk  # noqa: E402
from onepeak.estimator.target import LabelGapWarning, UnknownOrderWarning  # noqa: E402

__all__ = ["LabelGapWarning", "OrdinalClassifier", "UnknownOrderWarning", "neg_mae", "neg_rps", "qwk"]
