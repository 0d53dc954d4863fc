"""Models on a hub for models: uploaded with a digest of every file, downloaded and checked against them.

Only `onepeak push` and `onepeak pull` come here: nothing else of onepeak uses a network.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onepeak._core.digests import DIGESTS, check_digests, digests_of, digests_text, read_digests
from onepeak._core.imports import require
from onepeak._version import __version__
from onepeak.errors import InputError, OnepeakError, first_line
from onepeak.serving.model import model_folder
from onepeak.training.familiarity import FILE as FAMILIARITY
from onepeak.training.model_files import (
    check_model,
    is_shared,
    load_description,
    shared_files,
)
from onepeak.training.out_folder import DESCRIPTION, make_out, refuse_others


class HubError(OnepeakError):
    """The hub could not be reached, or refused."""


def push(folder: str | Path, repo: str, *, public: bool = False, familiarity: bool = False) -> str:
    """Uploads a model: its description, weights, card and, for images, features of some training images.

    Predictions and lists of samples stay here, and so do features of training texts, from which words can be guessed,
    unless `familiarity` is asked for, by which a model of texts marks foreign ones. A repository that does not exist is
    made, for everybody to see if `public`. Returns the address of the commit.
    """
    folder = model_folder(Path(folder))
    check_model(folder)
    table = load_description(folder).table
    names = shared_files(folder)
    if table is not None and table.texts is not None and not familiarity:
        names = [name for name in names if Path(name).name != FAMILIARITY]
    with _hub(repo) as (hub, api):
        api.create_repo(repo, private=not public, exist_ok=True)
        files: list[tuple[str, Path | bytes]] = [(name, folder / name) for name in names]
        files.append((DIGESTS, digests_text(digests_of(folder, names)).encode()))
        added = [hub.CommitOperationAdd(path_in_repo=name, path_or_fileobj=content) for name, content in files]
        commit = api.create_commit(repo, added, commit_message=f"A model of onepeak {__version__}")
    return str(commit.commit_url)


def pull(repo: str, out: str | Path, *, revision: str | None = None) -> str:
    """Downloads a model that `push` uploaded, and writes it to a new folder if every file has its digest.

    `revision` is a branch, tag or commit, by default the newest commit, which is returned.
    """
    out = Path(out)
    refuse_others(out)
    make_out(out)
    with tempfile.TemporaryDirectory(dir=out, prefix=".") as part:
        with _hub(repo) as (hub, api):
            commit = api.model_info(repo, revision=revision).sha
            try:
                api.hf_hub_download(repo, DIGESTS, revision=commit, local_dir=part)
            except hub.errors.RemoteEntryNotFoundError as error:
                raise InputError(f"{repo} must be a model that `onepeak push` uploaded, got no {DIGESTS}.") from error
            names = list(read_digests(Path(part)))
            if others := [name for name in names if not is_shared(name)]:
                raise InputError(f"{DIGESTS} of {repo} must name files of a model, got {others[0]!r}.")
            for name in names:
                api.hf_hub_download(repo, name, revision=commit, local_dir=part)
        check_digests(Path(part), *names)
        for name in sorted((*names, DIGESTS), key=DESCRIPTION.__eq__):  # a folder with a description is complete
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            Path(part, name).replace(out / name)
    return str(commit)


@contextmanager
def _hub(repo: str) -> Iterator[tuple[Any, Any]]:
    hub = require("huggingface_hub", extra="hub", purpose="A model hub")
    try:
        yield hub, hub.HfApi(library_name="onepeak", library_version=__version__)
    except OnepeakError:
        raise
    except Exception as error:  # of the hub, of the network, of the name: each library below has its own classes
        raise HubError(f"{repo} on the hub: {first_line(error)}") from error
