import numpy as np
from scipy import stats

from onepeak.experiment.plan import PAPER_METHODS
from reproduction.beside import differences
from reproduction.findings import claim, in_short, state
from reproduction.runs import read_runs


def test_the_state_counts_the_runs_of_both_forms(runs):
    assert state(runs).startswith(
        "Runs so far: as published 1 of 60 (splits: LD 1); corrected 12 of 70 (splits: CE 3, LD 1, MV 3, PN 3, ELB 2)."
    )


def test_the_claim_is_counted_on_the_splits_that_all_three_have_run(runs):
    worse = (runs["name"] == "ELB") & (runs["split"] == 1)
    changed = runs.assign(test_mae=runs["test_mae"].where(~worse, 9.0))
    assert claim(changed) == (
        "On 2 of 2 splits ELB keeps more pairs in order than both others, on 1 its MAE is lower than cross-entropy's. "
        "Adjacent pairs in order: 98.5 % with ELB, 60.0 % with the penalty, 53.0 % with cross-entropy."
    )


def test_the_findings_follow_the_figures(runs):
    order, error, barrier, corrected = in_short(runs, differences(runs), {}).splitlines()
    assert "ELB 98.5 (paper: 99.0), PN 60.0 (paper: 60.6), CE 53.0 (paper: 54.1); chance 51.4." in order
    assert "MAE, lowest first: LD 4.00, ELB 4.25, MV 5.00, CE 6.00, PN 6.00." in error
    t = -1.25 / np.sqrt((1 / 2 + 208 / 649) * 0.125)
    p = 2 * stats.t.cdf(t, df=1)
    assert (
        f"\N{MINUS SIGN}1.25 over 2 splits (corrected resampled t-test for this pair alone: p {p:.3f}".replace(
            "p 0.", "p ."
        )
        in barrier
    )
    assert "of 8 figures lie within two standard errors" in corrected  # CE, MV, PN and ELB, two each; LD has one run


def test_an_explanation_that_begins_with_unexplained_leaves_the_difference_open(runs):
    found = differences(runs)
    explained = {"corrected": {"mae": {"ce": "the moon"}}}
    half = {"corrected": {"mae": {"ce": "**unexplained** in part: the moon"}}}
    assert "CE (MAE)" in in_short(runs, found, {})
    assert "CE (MAE)" in in_short(runs, found, half)
    assert "CE (MAE)" not in in_short(runs, found, explained)


def test_the_state_says_when_nothing_is_missing(tmp_path, write_fgnet_run):
    for split in range(10):
        for method in PAPER_METHODS:
            write_fgnet_run(tmp_path, method, split, epochs=10, chosen=5)
            if method != "po":
                write_fgnet_run(tmp_path, method, split, epochs=10, chosen=5, variant="as_published")
    whole = read_runs(tmp_path)
    assert state(whole).startswith("All runs are complete: as published 60 of 60 (splits: CE 10, ")
    assert state(whole[1:]).startswith("Runs so far: ")
