"""Names of points beside a figure, where a legend would be longer than the figure."""

from collections.abc import Mapping

from matplotlib.axes import Axes

FEWEST_LINES = 20
"""So many names, one below the other, have room beside the points."""


def column_of_names(points: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """The height of each name, from 0 to 1: at that of its point, or as near as the others leave room.

    Example:
        >>> heights = column_of_names({"elb": (1.0, 0.5), "pn": (2.0, 0.5)})
        >>> {row: round(height, 3) for row, height in heights.items()}
        {'elb': 0.5, 'pn': 0.55}
    """
    gap = 1 / max(FEWEST_LINES, len(points) + 1)
    rows = sorted(points, key=lambda row: (points[row][1], points[row][0]))
    heights, free = {}, gap / 2
    for row in rows:
        heights[row] = max(points[row][1], free)
        free = heights[row] + gap
    free = 1 - gap / 2
    for row in reversed(rows):
        heights[row] = min(heights[row], free)
        free = heights[row] - gap
    return heights


def name_beside(axes: Axes, points: Mapping[str, tuple[float, float]], colours: Mapping[str, str]) -> None:
    """Names points at the right of axes whose limits are final, with a thin line from each point to its name."""
    on_axes = axes.transAxes.inverted().transform(axes.transData.transform(list(points.values())))
    heights = column_of_names(dict(zip(points, map(tuple, on_axes), strict=True)))
    for row, point in points.items():
        axes.annotate(
            row,
            point,
            (1.02, heights[row]),
            textcoords="axes fraction",
            color=colours[row],
            fontsize=7,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colours[row], "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0},
            zorder=0,
        )
