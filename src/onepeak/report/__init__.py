"""What the runs of an experiment found: tables, figures, a page."""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.report.page import Report, write_report
    from onepeak.report.tables import write_tables

__all__ = ["Report", "write_report", "write_tables"]

# Imported when first used: a table on the terminal needs neither images nor plotly.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tables": ["write_tables"],
        "page": ["Report", "write_report"],
    },
)
