import numpy as np
import pandas as pd
import pytest

LOOK = ("--label", "grade", "--epochs", 1, "--device", "cpu", "--logger", "none", "--quiet", "--method", "ce")


@pytest.mark.bad_input
def test_a_finished_run_is_not_taken_for_one_on_other_columns_or_categories(run, table, tmp_path):
    rows = pd.read_csv(table)
    rows = rows.assign(site=np.arange(len(rows)) % 3)
    sites, out = tmp_path / "sites.csv", tmp_path / "out"
    rows.to_csv(sites, index=False)
    train = ("train", sites, *LOOK, "--out", out)
    assert run(*train, "--category", "site")[0] == 0
    status, output, _ = run(*train, "--category", "site", "--resume")
    assert (status, "already finished" in output) == (0, True)

    def refused(told, *flags):
        status, output, errors = run(*train, "--resume", *flags)
        assert (status, output) == (2, "")
        assert f"holds a finished run with {told}: give another --out" in errors

    refused("other categories (--category) in site")
    rows.assign(site=rows["site"] + 1).to_csv(sites, index=False)
    refused("other categories (--category) in site", "--category", "site")
    rows.rename(columns={"tone": "hue"}).to_csv(sites, index=False)
    refused("the columns tone as well; no columns hue", "--category", "site")
