"""Pages that show what runs predict for every sample. Needs the extra `serve`; torch loads after the first page."""

from onepeak.serving.inspector.inspection import Inspection, open_inspection
from onepeak.serving.inspector.router import inspector_router

__all__ = ["Inspection", "inspector_router", "open_inspection"]
