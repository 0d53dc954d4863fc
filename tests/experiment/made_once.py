"""What a script makes once for all processes that test."""

import json
from pathlib import Path

from forked import output_of
from onepeak._core.files import locked


def made_once(script, tmp_path_factory, worker_id):
    """The folder that a script of this folder filled, and the facts that it printed."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / Path(script).stem
    place.mkdir(exist_ok=True)
    facts = place / "facts.json"
    with locked(place / "lock"):
        if not facts.exists():
            facts.write_text(output_of(Path(__file__).parent / script, place))
    return place, json.loads(facts.read_text())
