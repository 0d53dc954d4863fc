"""What the benchmark of ten data sets makes of its runs: rates by validation, then ranks and goals."""

from pathlib import Path

import pandas as pd
import pytest

from benchmark import frozen
from benchmark_page import Benchmark, chosen_rates, write_page
from onepeak.experiment.plan import read_plan

EXPERIMENT = Path(__file__).parents[2] / "experiments/benchmark/coffee.toml"
RATES = (0.001, 0.01)


def runs_of(name, *, errors, best_rate):
    """Two splits; on the first every method has a second rate, whose test error is lower but not that of validation."""
    lines = []
    for method, error in errors.items():
        own = best_rate[method]
        for split in (0, 1):
            for lr in RATES if split == 0 else (own,):
                chosen = lr == own
                lines.append(
                    {
                        "set": name,
                        "method": method,
                        "lr": lr,
                        "split": split,
                        "fold": 0,
                        "num_classes": 5,
                        "num_train": 60,
                        "num_valid": 20,
                        "num_test": 20,
                        "valid_mae": error if chosen else error + 1,
                        "mae": error + 0.1 * split if chosen else 0.0,
                        "qwk": 1 - error,
                        "rps_calibrated": error / 2,
                        "soi_predicted": 1.0 if method == "peak" else 0.8,
                        "unimodal": 0.99 if name == "esl" else 0.97,
                    }
                )
    return lines


@pytest.fixture
def runs():
    rates = {"peak": 0.01, "ce": 0.001, "elb": 0.001, "smooth-elb": 0.01}
    first = runs_of("esl", errors={"peak": 0.3, "ce": 0.5, "elb": 0.4, "smooth-elb": 0.2}, best_rate=rates)
    second = runs_of("swd", errors={"peak": 0.6, "ce": 0.7, "elb": 0.5, "smooth-elb": 0.1}, best_rate=rates)
    return pd.DataFrame(first + second)


def test_each_method_takes_the_rate_with_the_lowest_validation_error(runs):
    chosen = chosen_rates(runs[runs["set"] == "esl"]).set_index("method")["lr"]
    assert chosen.to_dict() == {"ce": 0.001, "elb": 0.001, "peak": 0.01, "smooth-elb": 0.01}


def test_only_runs_with_the_chosen_rate_count(runs):
    assert Benchmark(runs).means["mae"]["esl", "peak"] == pytest.approx(0.35)


def test_a_fold_that_a_method_lacks_does_not_count(runs):
    lacking = runs.drop(runs[(runs["method"] == "ce") & (runs["split"] == 1) & (runs["set"] == "esl")].index)
    benchmark = Benchmark(lacking)
    assert benchmark.means["mae"]["esl", "peak"] == pytest.approx(0.3)
    assert benchmark.means["mae"]["swd", "peak"] == pytest.approx(0.65)


def test_steps_to_peak_are_not_ranked(runs):
    ranks = Benchmark(runs).ranks("mae")
    assert dict(zip(ranks.methods, ranks.mean_ranks, strict=True)) == {"peak": 1.5, "ce": 3.0, "elb": 1.5}


def test_frozen_features_count_until_the_networks_were_trained_whole(runs):
    frozen = runs.assign(set=runs["set"] + "-frozen")
    assert Benchmark(frozen).sets == ["esl-frozen", "swd-frozen"]
    assert "| ESL, table, frozen | 5 |" in Benchmark(frozen).sets_table()
    both = pd.concat([runs[runs["set"] == "esl"], frozen])
    assert Benchmark(both).sets == ["esl", "swd-frozen"]


def test_a_frozen_plan_has_no_terms_on_features():
    plan = frozen(read_plan(EXPERIMENT))
    assert (plan.name, plan.freeze) == ("coffee-frozen", True)
    names = [entry.name for entry in plan.methods]
    assert "peak" in names
    assert "peak+rnc" not in names


def test_goals_that_are_missed_are_named_with_their_sets(runs):
    goals = Benchmark(runs).goals().splitlines()
    assert "Pairs in order in at least 99.9 % on every set: **met**" in goals[-2]
    assert "**missed** on SWD, table 97.00 %" in goals[-1]
    assert "Lower MAE than `elb` on most sets, and significantly over all: **missed** (1 of 2 sets" in goals[-3]


def test_the_page_says_what_the_committed_runs_say():
    with pytest.raises(SystemExit) as ended:
        write_page(check=True)
    assert ended.value.code == 0
