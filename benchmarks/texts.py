"""Texts: what `onepeak compare` measured, beside TF-IDF with a linear model and the agreement of the two raters.

results/text/README.md has the commands: one comparison on the labels of the first rater, and one on those of both, with
the same splits.

python benchmarks/texts.py sentences.csv one both results/text/runs.csv
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import cohen_kappa_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from onepeak import OrdinalClassifier
from onepeak.data import DataSource
from onepeak.data.splits import make_splits

LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")


def errors(predicted: np.ndarray, table: pd.DataFrame) -> dict[str, float]:
    """Returns the errors against each rater, in levels, and the agreement with each (QWK)."""
    a, b = (table[rater].map(LEVELS.index).to_numpy() for rater in ("level_a", "level_b"))
    return {
        "mae": float(np.abs(predicted - a).mean()),
        "accuracy": float((predicted == a).mean()),
        "mae_b": float(np.abs(predicted - b).mean()),
        "accuracy_b": float((predicted == b).mean()),
        "qwk": float(cohen_kappa_score(a, predicted, weights="quadratic")),
        "qwk_b": float(cohen_kappa_score(b, predicted, weights="quadratic")),
    }


def score(log_probs: np.ndarray, table: pd.DataFrame) -> float:
    """Returns the ranked probability score against the distribution of both raters."""
    truth = np.stack([(table[["level_a", "level_b"]] == level).mean(axis=1) for level in LEVELS], axis=1)
    apart: np.ndarray = (np.exp(log_probs) - truth).cumsum(axis=1)
    return float((apart**2).sum(axis=1).mean())


def main(file: Path, one: Path, both: Path, out: Path) -> None:
    """Writes one row per method and split."""
    table = pd.read_csv(file)
    texts, labels = table["text"], table["level_a"].map(LEVELS.index).to_numpy()
    data = DataSource(file, text="text", label="level_a", order=",".join(LEVELS)).open()
    rows: list[dict[str, object]] = []
    for result in (each for folder in (one, both) for each in sorted(folder.glob("runs/*/*/result.json"))):
        record = json.loads(result.read_text())
        predictions = pd.read_parquet(result.parent / "predictions.parquet")
        test = predictions[predictions["part"] == "test"]
        soi = {name: record["metrics"]["test"][name] for name in ("soi_predicted", "unimodal")}
        own = errors(test["predicted"].to_numpy(), table.iloc[test["item"]])
        raters = 2 if "label_distribution" in record else 1
        rps = score(np.stack(test["log_probs"].to_list()), table.iloc[test["item"]])
        rows.append({"method": record["method"], "raters": raters, "split": record["split"], **own, "rps": rps, **soi})
    for split in make_splits(data, protocol="holdout", splits=5):
        known = np.concatenate([split.train, split.valid])  # the classifier holds out its own validation part
        dense = FunctionTransformer(lambda found: found.toarray(), accept_sparse=True)
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=5000)
        model = make_pipeline(words, dense, OrdinalClassifier("clm", hidden=(), random_state=0))
        model.fit(texts[known], labels[known])
        test = table.iloc[split.test]
        rows.append(
            {"method": "TF-IDF + linear clm", "split": split.split, **errors(model.predict(test["text"]), test)}
        )
        rater = test["level_b"].map(LEVELS.index).to_numpy()
        rows.append({"method": "the other rater", "split": split.split, **errors(rater, test)})
        constant = np.full(len(test), int(np.median(labels[known])))
        rows.append({"method": "one answer to everything", "split": split.split, **errors(constant, test)})
    out.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).round(4).to_csv(out, index=False)
    print(pd.DataFrame(rows).groupby(["method", "raters"], dropna=False).agg(["mean", "std"]).round(3).to_string())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
