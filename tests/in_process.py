"""An executor without processes of its own, which take longer to start than a tiny run to train."""

from onepeak.experiment.compare import train_task
from onepeak.training.devices import make_fabric


class Here:
    """Trains one run after another in this process."""

    workers, devices = 1, ("this process",)

    def speedup(self, _):
        return 1.0

    def run(self, runs, opened, folder, *, report):
        for each in runs:
            report(train_task(each, opened, folder, fabric=make_fabric(device="cpu"), report=report))
