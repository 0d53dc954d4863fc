"""A model behind HTTP: images or rows in, labels, posteriors and intervals out. Needs the extra `serve`."""

from onepeak.serving.http.app import create_app
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.server import check_address, serve_app

__all__ = ["Limits", "check_address", "create_app", "serve_app"]
