"""Type aliases for pandas, which is optional: at run time they are `Any`."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas

    Frame: TypeAlias = pandas.DataFrame
    Column: TypeAlias = pandas.Series[Any]
else:
    Frame = Column = Any
