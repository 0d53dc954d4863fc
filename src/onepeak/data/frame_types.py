"""Names for pandas' types: pandas is optional, so outside of the type checker they are anything."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas

    Frame: TypeAlias = pandas.DataFrame
    Column: TypeAlias = pandas.Series[Any]
else:
    Frame = Column = Any
