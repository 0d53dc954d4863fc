"""The page of runs on the authors' own splits, on records with planted figures."""

from reproduction.authors import authors_table, first_place, precision_table
from reproduction.runs import read_runs


def _write(write, root, label, split, **figures):
    method, _, published = label.partition("-as_")
    write(root, method, split, variant="as_published" if published else "corrected", **figures)


def test_the_papers_methods_stand_in_its_order_beside_the_printed_figures_and_ours_last(tmp_path, write_fgnet_run):
    for method in ("smooth-slopes", "elb-as_published", "ce-as_published"):
        for split, mae in enumerate((4.0, 5.0)):
            _write(write_fgnet_run, tmp_path / "theirs", method, split, mae=mae)
    _write(write_fgnet_run, tmp_path / "ours", "elb-as_published", 0, mae=3.0)
    _write(write_fgnet_run, tmp_path / "ours", "elb", 0, mae=9.0)  # corrected
    lines = authors_table(read_runs(tmp_path / "theirs"), read_runs(tmp_path / "ours")).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")][:4] for line in lines]
    assert cells == [
        ["CE", "7.79 ± 0.79", "4.50 ± 0.71 (2)", "\N{EN DASH}"],
        ["ELB", "4.27 ± 0.47", "4.50 ± 0.71 (2)", "3.00 (1)"],
        ["smooth-slopes", "\N{EN DASH}", "4.50 ± 0.71 (2)", "\N{EN DASH}"],
    ]


def test_differences_from_elb_are_those_of_others(tmp_path, write_fgnet_run):
    for split, (elb, ren) in enumerate(((4.0, 5.0), (5.0, 5.5), (5.0, 4.5))):
        _write(write_fgnet_run, tmp_path, "elb-as_published", split, mae=elb)
        _write(write_fgnet_run, tmp_path, "ren-as_published", split, mae=ren)
    said = first_place(read_runs(tmp_path))
    assert said.startswith("ELB's MAE is 4.67. ")
    assert "REN +0.33 (ELB lower on 2 of 3 splits, p ." in said
    assert "smooth" not in said


def test_precisions_are_compared_run_by_run(tmp_path, write_fgnet_run):
    for split, (half, whole) in enumerate(((4.5, 4.0), (4.0, 4.3))):
        _write(write_fgnet_run, tmp_path / "half", "elb-as_published", split, mae=half)
        _write(write_fgnet_run, tmp_path / "whole", "elb-as_published", split, mae=whole)
    _write(write_fgnet_run, tmp_path / "whole", "elb", 0, mae=9.0)
    table = precision_table(*(read_runs(tmp_path / name) for name in ("half", "whole")))
    first = [[cell.strip() for cell in line.strip("|").split("|")][:3] for line in table.splitlines()[2:]]
    assert first == [
        ["ELB", "0", "+0.50"],
        ["ELB", "1", "\N{MINUS SIGN}0.30"],
        ["mean of 2", "", "+0.10"],
        ["standard deviation", "", "0.57"],
    ]
