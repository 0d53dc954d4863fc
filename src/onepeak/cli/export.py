"""`onepeak export`: a trained model as one ONNX file."""

from pathlib import Path
from typing import Annotated, Any

from onepeak.cli import options
from onepeak.cli.options import flag
from onepeak.cli.output import print_json, print_note, print_notes, print_table, spinner
from onepeak.errors import InputError, in_documentation


@options.with_flags(posterior=options.POSTERIOR)
def export(
    model: Path,
    onnx: Annotated[Path, flag("Output", "--onnx", "ONNX file to write.")],
    posterior: dict[str, Any],
    size: Annotated[str | None, flag("Output", "--size", "Fixed image size, height x width, such as 224x224.")] = None,
    force: Annotated[bool, flag("Output", "--force", "Overwrite an existing file.")] = False,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Exports a model as one ONNX file, from pixels or row values to class, posterior and interval.

    The file's metadata holds the classes, the resizing and all options as JSON. The export checks that onnxruntime and
    the model agree on random samples.

    Example: onepeak export model --onnx grades.onnx
    """
    from onepeak.serving import export_onnx, load

    loaded = load(model, device="cpu")
    with spinner(f"Exporting {model}", quiet=quiet):
        written = export_onnx(loaded, onnx, size=_sides(size), force=force, **posterior)
    if as_json:
        record = {"path": str(written.path), "bytes": written.num_bytes, "notes": written.notes}
        print_json({**record, "inputs": written.inputs, "outputs": written.outputs})
        return
    if not quiet:
        print_notes(written.notes)
        print_note(f"exported {written.path}, {written.num_bytes / 1e6:.1f} MB; onnxruntime and the model agree")
        print_note(f"Next: {in_documentation('serve')} shows how to call it; or onepeak serve {model}")
    kinds = {"input": written.inputs, "output": written.outputs}
    print_table(("", "name", "type"), [(kind, *each) for kind, about in kinds.items() for each in about.items()])


def _sides(size: str | None) -> tuple[int, int] | None:
    """Height and width.

    Example:
        >>> _sides("224x320")
        (224, 320)
    """
    if size is None:
        return None
    height, _, width = size.lower().partition("x")
    if not (height.isdecimal() and width.isdecimal()):
        raise InputError(f"`--size` must be height and width in pixels, such as 224x320, got {size!r}.")
    return int(height), int(width)
