"""Writes one checkpoint, then one larger than files may be: run by `test_checkpoint.py`."""

import resource
import sys
from pathlib import Path

from onepeak._core.files import NotWrittenError
from onepeak.training.checkpoint import save_checkpoint
from training.write_and_be_killed import made_checkpoint


def main(path):
    save_checkpoint(made_checkpoint(1), path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # the kernel then refuses, as it does on a full disk
    try:
        save_checkpoint(made_checkpoint(2, size=300_000), path)
    except NotWrittenError as error:
        sys.stdout.write(str(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
