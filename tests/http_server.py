"""Apps to ask in this process, behind a real socket, and in a process of their own."""

import contextlib
import io
import os
import subprocess
import sys
import threading
import time

import uvicorn
from PIL import Image
from starlette.testclient import TestClient

from onepeak.serving.http.server import Connection, Housekeeping, address_of, listen


def asking(app):
    """Asks an app without a network, by the name of this machine."""
    return TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)


@contextlib.contextmanager
def running(app, *, idle_seconds=15):
    """Runs an app in a thread; gives its address."""
    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, http=Connection, log_config=None, access_log=False, ws="none", lifespan="on", timeout_notify=idle_seconds
    )
    server = uvicorn.Server(config)
    config.callback_notify = Housekeeping(server)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield address_of(listening, None).rstrip("/")
    finally:
        server.should_exit = True
        thread.join(30)


@contextlib.contextmanager
def commanded(command, folder, *flags):
    """Runs a command that serves; gives its process and address."""
    arguments = [sys.executable, "-m", "onepeak", command, str(folder), "--port", "0", "--quiet", *flags]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, **pipes, env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
        try:
            yield process, process.stdout.readline().strip().rstrip("/")
        finally:  # else a failure would wait for the server for ever
            process.kill()


def encoded(pixels, kind="PNG", **options):
    """The bytes of a image's file."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()
