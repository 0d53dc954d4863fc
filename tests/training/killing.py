"""Real processes that are killed at random moments. Children are forked, so that none has to import torch again."""

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
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)  # a child that is done waits here as a zombie, and does not mind
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


KILLED = -signal.SIGKILL
