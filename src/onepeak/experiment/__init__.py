"""Many runs as one experiment: the grid, its folder, and the comparison of results."""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
    from onepeak.experiment.pairing import Pairs, paired
    from onepeak.experiment.ranks import RankComparison, compare_ranks
    from onepeak.experiment.records import read_history, read_predictions, read_results
    from onepeak.experiment.run_json import FailedRun, failed_runs
    from onepeak.experiment.significance import (
        WilcoxonResult,
        cohen_dz,
        corrected_t_test,
        holm,
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
        "pairing": ["Pairs", "paired"],
        "ranks": ["RankComparison", "compare_ranks"],
        "records": ["read_history", "read_predictions", "read_results"],
        "run_json": ["FailedRun", "failed_runs"],
        "significance": ["WilcoxonResult", "cohen_dz", "corrected_t_test", "holm", "rank_biserial", "wilcoxon"],
    },
)
