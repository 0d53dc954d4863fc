"""A comparison on a Ray cluster: every run is a task, and results come back to a local folder.

ray start --head --port 6379          (on one machine; on the others: ray start --address HEAD:6379)
python examples/ray_cluster.py --address HEAD:6379
On the command line: onepeak compare biopsies --methods ce,elb --executor ray --address HEAD:6379 --out comparison
"""

import argparse
from pathlib import Path

from onepeak.experiment.compare import compare
from onepeak.experiment.events import Event, Finished
from onepeak.experiment.executors.ray import RayExecutor
from onepeak.experiment.plan import Experiment, entries_from_text
from onepeak.experiment.prepared import open_experiment
from onepeak.experiment.results import read_results


def tell(event: Event) -> None:
    """Prints each finished run."""
    if isinstance(event, Finished):
        print(f"{event.run.name}: MAE {event.result['metrics']['test']['mae']:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="biopsies", help="DATA as in onepeak compare")
    parser.add_argument("--label", help="the label column, for a table")
    parser.add_argument("--order", help="the classes, lowest first, unless they are integers")
    parser.add_argument("--methods", default="ce,elb")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--address", default="auto", help="address of the cluster: host:port or ray://host:port")
    parser.add_argument("--cpus-per-run", type=float, default=1)
    parser.add_argument("--out", type=Path, default=Path("comparison"))
    given = parser.parse_args()
    experiment = Experiment(
        name="on-ray",
        data=given.data,
        label=given.label,
        order=given.order,
        methods=entries_from_text(given.methods),
        protocol="holdout",
        splits=given.splits,
        recipe={"epochs": given.epochs},
    )
    executor = RayExecutor(address=given.address, cpus_per_run=given.cpus_per_run)
    outcome = compare(open_experiment(experiment), given.out, executor=executor, report=tell)
    print(f"{len(outcome.finished)} finished, {len(outcome.failed)} failed; run the same command again to resume")
    results = read_results(given.out)
    print(results.groupby("label")["test_mae"].agg(["mean", "std"]).round(3).to_string())
