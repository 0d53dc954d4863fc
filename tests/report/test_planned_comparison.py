import pytest

from onepeak.errors import InputError, UnknownNameError
from onepeak.experiment.results import read_results
from onepeak.report.planned_comparison import check_rows, planned_comparison
from run_folders import write_run


@pytest.fixture
def pair(tmp_path):
    """The pair that is planned among rows of one run each, which are given with their error and order."""

    def call(rows, **named):
        for label, (mae, soi) in rows.items():
            write_run(tmp_path, method="mv", label=label, mae=mae, soi_predicted=soi)
        planned = planned_comparison(read_results(tmp_path), **named)
        return planned and (planned.method, planned.baseline)

    return call


def test_runs_that_only_one_of_them_has_are_left_out(tmp_path):
    for method, errors in {"ce": [5.0, 6.0, 99.0], "elb": [4.0, 4.5]}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=mae / 100)
    planned = planned_comparison(read_results(tmp_path))
    assert planned.n == 2
    assert planned.mae == pytest.approx((4.25, 5.5))


@pytest.mark.parametrize("figures", [(0.1, 0.99), (9.0, 0.01)])
def test_no_figure_has_a_part_in_choosing_the_pair(pair, figures):
    assert pair({"mv": figures, "po": (1.0, 0.5), "ld": (2.0, 0.7)}) is None
    assert pair({"ce": (1.0, 0.6)}) is None  # without elb none is put in its place
    assert pair({"elb": (3.0, 0.9)}) == pair({}, against="po") == ("elb", "ce")
    assert pair({}, alone="mv") == ("mv", "ce")
    assert pair({}, alone="mv", against="ld") == ("mv", "ld")


@pytest.mark.parametrize("figures", [(0.1, 0.99), (9.0, 0.01)])
def test_of_two_rows_there_is_one_pair(pair, figures):
    assert pair({"mv": figures, "po": (1.0, 0.5)}) == ("po", "mv")
    assert pair({}, against="po") == ("mv", "po")


def test_two_rows_that_share_no_split_are_not_compared(tmp_path):
    write_run(tmp_path, method="ce", split=0)
    write_run(tmp_path, method="elb", split=1)
    assert planned_comparison(read_results(tmp_path)) is None


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "named", "error", "message"),
    [
        ("ce elb", {"alone": "ebl"}, UnknownNameError, r"Unknown row of x for `alone` 'ebl'. Did you mean"),
        (
            "mv elb",
            {"alone": "elb"},
            InputError,
            r"`against` must name the row of x that elb is compared",
        ),
        (
            "ce elb",
            {"alone": "elb", "against": "elb"},
            InputError,
            "must be another row than the one it is compared with",
        ),
    ],
)
def test_a_pair_that_there_is_not_is_refused(rows, named, error, message):
    with pytest.raises(error, match=message):
        check_rows(rows.split(), of=" of x", **{"against": None, **named})
    check_rows(["ce", "elb"], against="elb")
    check_rows(["ce", "elb"], against="elb", alone="ce")
