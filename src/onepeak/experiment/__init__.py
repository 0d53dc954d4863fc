"""Many runs as one experiment: the grid, its folder, and the comparison of results."""

# compare.py trains or resumes the runs that are not finished; folder.py knows which are finished, failed or claimed.

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.experiment.results import read_history, read_predictions, read_results
    from onepeak.experiment.run_files import FailedRun, failed_runs
    from onepeak.experiment.statistics import (
        Pairs,
        RankComparison,
        WilcoxonResult,
        cohen_dz,
        compare_ranks,
        corrected_t_test,
        holm,
        paired,
        rank_biserial,
        wilcoxon,
    )

__all__ = [
    "FailedRun",
    "Pairs",
    "RankComparison",
    "WilcoxonResult",
    "cohen_dz",
    "compare_ranks",
    "corrected_t_test",
    "failed_runs",
    "holm",
    "paired",
    "rank_biserial",
    "read_history",
    "read_predictions",
    "read_results",
    "wilcoxon",
]

# Lazy imports: workers and pages need only parts of this package, without the dependencies of the rest.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "results": ["read_history", "read_predictions", "read_results"],
        "run_files": ["FailedRun", "failed_runs"],
        "statistics": [
            "Pairs",
            "RankComparison",
            "WilcoxonResult",
            "cohen_dz",
            "compare_ranks",
            "corrected_t_test",
            "holm",
            "paired",
            "rank_biserial",
            "wilcoxon",
        ],
    },
)
