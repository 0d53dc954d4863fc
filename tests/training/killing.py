"""Real processes that are killed at random moments. Children are forked, so that none has to import torch again."""

import math
import os
import signal
import time
import traceback


def run_in_child(work, *, kill_after=None):
    """Runs something in a child process, killed after some seconds where it is not done by then; the exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = math.inf if kill_after is None else time.monotonic() + kill_after
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


KILLED = -signal.SIGKILL
