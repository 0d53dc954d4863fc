"""`onepeak demo`: the whole story on the embedded data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from onepeak.cli import options
from onepeak.cli.output import print_note

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, so that --help is fast
    from onepeak.experiment.plan import Experiment


@options.with_flags()
def demo(
    out: Annotated[
        Path | None,
        options.flag("Output", "--out", "Folder for the runs and the report (default: out/biopsies-demo)."),
    ] = None,
    workers: int | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> None:
    """Compares the paper's seven methods and peak on synthetic biopsy images (a few minutes on CPU).

    If interrupted, run it again to resume. config.toml in its folder holds the experiment.

    Example: onepeak demo
    """
    from onepeak.cli.compare.run import run_comparison
    from onepeak.experiment.executors.local import LocalExecutor

    plan = demo_plan()
    executor = LocalExecutor(device=device, workers=workers)
    page = run_comparison(plan, out or Path("out", plan.name), executor=executor, quiet=quiet)
    if not quiet:
        if page is not None:
            print_note(f"Open {page} in a browser for the findings, the figures and contradictory predictions.")
        print_note("Then, on your own data: onepeak compare FOLDER --order low,middle,high")


def demo_plan() -> "Experiment":
    """What the demo compares; the file is inside the package, so that an installed onepeak has it."""
    from importlib.resources import as_file, files

    from onepeak.experiment.plan import read_plan

    with as_file(files("onepeak.experiment") / "demo.toml") as path:
        return read_plan(path)
