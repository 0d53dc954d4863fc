"""OrdinalClassifier in a scikit-learn pipeline: scaling, categories, grid search, intervals.

python examples/table_pipeline.py [--epochs 30]
"""

import argparse

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import onepeak

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--epochs", type=int, default=30)
given = parser.parse_args()

# The progression of diabetes over one year, in five grades.
table = load_diabetes(as_frame=True, scaled=False).frame
grade = (table.pop("target") // 60).astype(int).clip(upper=4)
table["sex"] = table["sex"].map({1: "a", 2: "b"})
train, test, train_grade, test_grade = train_test_split(table, grade, stratify=grade, random_state=0)

numbers = [name for name in table.columns if name != "sex"]
pipeline = make_pipeline(
    make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), ["sex"])),
    onepeak.OrdinalClassifier(epochs=given.epochs, random_state=0),
)
search = GridSearchCV(
    pipeline,
    {"ordinalclassifier__method": ["ce", "elb", "slopes"]},
    scoring=make_scorer(mean_absolute_error, greater_is_better=False),
    cv=3,
)
search.fit(train, train_grade)
print(pd.DataFrame(search.cv_results_)[["param_ordinalclassifier__method", "mean_test_score"]].to_string(index=False))

best = search.best_estimator_
print(f"test MAE {mean_absolute_error(test_grade, best.predict(test)):.2f}")
low, high = best[-1].predict_interval(best[:-1].transform(test), alpha=0.1).T
print(f"{((low <= test_grade) & (test_grade <= high)).mean():.0%} of the test grades within their 90 % intervals")
