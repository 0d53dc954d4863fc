"""`onepeak push` and `onepeak pull`: a model to and from a hub."""

from pathlib import Path
from typing import Annotated

import typer

from onepeak.cli.options import flag, with_flags
from onepeak.cli.output import predict_command, print_note, spinner

Repo = Annotated[str, typer.Argument(help="Repository on the hub, such as me/grades.")]


@with_flags()
def push(
    model: Path,
    repo: Repo,
    public: Annotated[bool, flag("Output", "--public", "Make a new repository public.")] = False,
    familiarity: Annotated[
        bool, flag("Output", "--familiarity", "For a model of texts: upload features of its training texts too.")
    ] = False,
    quiet: bool = False,
) -> None:
    """Uploads a model with its card to a hub, into a private repository unless you say --public.

    Its description, weights and card are uploaded with a digest of each; predictions and lists of samples stay here.
    A model of images takes along familiarity.safetensors, features of some training images, by which it marks foreign
    ones. A model of texts leaves this file here unless you say --familiarity, as words can be guessed from it. Log in
    first with hf auth login, or set HF_TOKEN.

    Example: onepeak push model me/grades
    """
    from onepeak.serving import hub

    with spinner(f"Uploading {model}", quiet=quiet):
        commit = hub.push(model, repo, public=public, familiarity=familiarity)
    typer.echo(commit)
    if not quiet:
        print_note(f"Next, where it is to be used: onepeak pull {repo} --out model")


@with_flags()
def pull(
    repo: Repo,
    out: Annotated[Path, flag("Output", "--out", "New folder for the model.")],
    revision: Annotated[str | None, flag("Data", "--revision", "Branch, tag or commit (default: the newest).")] = None,
    quiet: bool = False,
) -> None:
    """Downloads a model that onepeak push uploaded, and checks the digest of every file.

    Example: onepeak pull me/grades --out model
    """
    from onepeak.serving import hub

    with spinner(f"Downloading {repo}", quiet=quiet):
        commit = hub.pull(repo, out, revision=revision)
    if not quiet:
        print_note(f"model: {out}, commit {commit}\nNext: {predict_command(out)}")
