"""`onepeak serve` under many clients, compared with the same model called directly in batches.

Run: python benchmarks/serving.py [--seconds N] [--clients N] [--backbone NAME] [--side N] [--out FILE]
Method: makes a model with random weights and JPEG files in a temporary folder, and starts the server as a separate
process. For the direct baseline, a third process reads the same files and calls the model in batches of 32
(`Model.predict`), before and after the clients; the mean of both is 1. The clients run in one process, each sending its
next request after the answer to the last one; all share the machine's cores with the server. A request is lost unless
it is answered with 200. An answer counts if its request was sent and answered within the time. CPU per image is the
time that all cores spend on it in the server, and in the direct process: it shows what serving adds even on a busy
machine.
"""

import argparse
import asyncio
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
import torch
from PIL import Image

import onepeak
from onepeak.data.images.resize import Resize
from onepeak.networks import NetworkSettings, build_network
from onepeak.training.model_files import ModelDescription, save_model

CLASSES = tuple(f"grade {number}" for number in range(8))
IMAGES = 64


@dataclass
class Tally:
    """What the clients measured."""

    answered: int = 0
    """Images answered within the time."""
    requests: int = 0
    lost: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


def make_model(folder: Path, backbone: str, side: int) -> None:
    settings = NetworkSettings(backbone=backbone)
    network = build_network(onepeak.method("elb", num_classes=len(CLASSES)), settings, seed=0)
    description = ModelDescription(
        classes=CLASSES,
        method="elb",
        variant="corrected",
        method_settings={},
        network=settings,
        resize=Resize(short_side=side),
        table=None,
    )
    save_model(folder, description, network.state_dict())


def make_images(folder: Path, side: int) -> list[Path]:
    """Writes smooth random JPEGs, slightly larger than the network's input."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    paths = []
    for number in range(IMAGES):
        coarse = rng.integers(0, 256, (side // 16, side // 16, 3), np.uint8)
        paths.append(folder / f"{number}.jpg")
        Image.fromarray(coarse).resize((side + 32, side + 32), Image.Resampling.BICUBIC).save(paths[-1], quality=90)
    return paths


def start_server(model: Path) -> tuple["subprocess.Popen[str]", str]:
    command = [sys.executable, "-m", "onepeak", "serve", str(model), "--port", "0", "--device", "cpu", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def memory_mib(pid: int, line: str = "VmRSS") -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(each.split()[1]) / 1024 for each in text.splitlines() if each.startswith(line))


def spent_seconds(pid: int) -> float:
    """CPU seconds of a process so far, over all cores."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def ask(address: str, bodies: list[bytes], *, clients: int, per_request: int, seconds: float) -> Tally:
    """Runs many clients at once, until the time is over and all have their answers."""
    tally = Tally()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    end = time.perf_counter() + seconds

    async def client(web: httpx.AsyncClient, number: int) -> None:
        place = number
        while (begun := time.perf_counter()) < end:
            files = [("images", (f"{n}.jpg", bodies[(place + n) % len(bodies)])) for n in range(per_request)]
            place += per_request
            try:
                answer = await web.post("/v1/predict", files=files)
                good = answer.status_code == 200 and len(answer.json()["predictions"]) == per_request
                if not good:
                    tally.lost.append(f"{answer.status_code}: {answer.text[:100]}")
            except httpx.HTTPError as error:
                tally.lost.append(repr(error))
                good = False
            tally.requests += 1
            if good and time.perf_counter() <= end:
                tally.answered += per_request
                tally.latencies.append(time.perf_counter() - begun)

    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as web:
        await asyncio.gather(*(client(web, number) for number in range(clients)))
    return tally


def clients_main(arguments: list[str]) -> None:
    """The client process: prints its measurements as JSON."""
    address, folder, clients, per_request, seconds = arguments
    bodies = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    tally = asyncio.run(
        ask(address, bodies, clients=int(clients), per_request=int(per_request), seconds=float(seconds))
    )
    print(json.dumps(tally.__dict__))


def direct_main(arguments: list[str]) -> None:
    """The direct process: prints images per second, and CPU seconds per image."""
    model_folder, folder, seconds = arguments
    model = onepeak.load(model_folder)
    paths = sorted(Path(folder).iterdir())
    model.predict(paths[:32])
    begun, spent, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begun < float(seconds):
        count += len(model.predict(paths))
    print(count / (time.perf_counter() - begun), (time.process_time() - spent) / count)


def part(name: str, *arguments: object) -> str:
    """Runs one of the parts above in a separate process."""
    command = [sys.executable, __file__, name, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(model: Path, images: Path, *, clients: int, per_request: int, seconds: float) -> str:
    """Returns one row of the table."""
    before, cost_before = map(float, part("direct", model, images, seconds / 4).split())
    server, address = start_server(model)
    try:
        part("clients", address, images, 4, 8, 3)  # warm-up
        idle, spent = memory_mib(server.pid), spent_seconds(server.pid)
        tally = Tally(**json.loads(part("clients", address, images, clients, per_request, seconds)))
        busy, peak = memory_mib(server.pid), memory_mib(server.pid, "VmHWM")
        cost = (spent_seconds(server.pid) - spent) / (tally.requests * per_request)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    after, cost_after = map(float, part("direct", model, images, seconds / 4).split())
    direct, served = (before + after) / 2, tally.answered / seconds
    for reason in tally.lost[:3]:
        print(f"lost: {reason}")
    median, worst = statistics.median(tally.latencies or [0]), max(tally.latencies, default=0)
    return (
        f"| {clients} | {per_request} | {seconds:g} | {tally.requests:,} | {len(tally.lost)} | {served:.1f} "
        f"| {before:.1f}, {after:.1f} | {served / direct:.2f} "
        f"| {1e3 * cost:.0f}, {1e3 * (cost_before + cost_after) / 2:.0f} | {median:.2f}, {worst:.2f} "
        f"| {idle:.0f}, {busy:.0f}, {peak:.0f} |"
    )


COLUMNS = (
    "clients",
    "images a request",
    "seconds",
    "requests",
    "lost",
    "pictures/s served",
    "directly, before and after",
    "ratio",
    "CPU a image, served and directly, ms",
    "latency, median and worst, s",
    "memory of the server, before, after, peak, MiB",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--backbone", default="resnet18")
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    about = (
        f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, "
        f"{len(os.sched_getaffinity(0))} cores; {options.backbone}, images of {options.side} pixels"
    )
    print(about)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_model(folder / "model", options.backbone, options.side)
        make_images(folder / "pictures", options.side)
        rows = []
        for clients, per_request in ((options.clients, 1), (max(1, options.clients // 10), 16)):
            rows.append(
                measure(
                    folder / "model",
                    folder / "pictures",
                    clients=clients,
                    per_request=per_request,
                    seconds=options.seconds,
                )
            )
            print(rows[-1], flush=True)
    if options.out is not None:
        header = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        options.out.write_text("\n".join([f"{about}.", "", *header, *rows, ""]))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["clients", *rest]:
            clients_main(rest)
        case ["direct", *rest]:
            direct_main(rest)
        case _:
            main()
