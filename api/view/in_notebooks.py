"""Gives transformed functions what notebooks ask for: HTML, and a plot of a function and its
derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeless.lazy_import import lazy_module

if TYPE_CHECKING:
    from tapeless.view import notebook, plot
else:
    notebook, plot = lazy_module("tapeless.view.notebook"), lazy_module("tapeless.view.plot")


class InNotebooks:
    """A function that a notebook shows and draws."""

    def _repr_html_(self) -> str:
        """What a notebook shows of it: a line that opens to its source and the emitted code."""
        return notebook.notebook_view(self)  # type: ignore[arg-type]  # a Transformed

    def plot(
        self,
        start: Any,
        stop: float | None = None,
        /,
        *,
        order: int = 1,
        points: int = 201,
        ax: Any = None,
    ) -> Any:
        """Draws a function of one number and its derivatives, with matplotlib.

        start, stop  the ends of the interval; or the numbers themselves, as an array, alone
        order        how often it is differentiated: 0 draws the function alone, 2 draws it, its
                     first and its second derivative
        points       how many numbers of the interval, evenly spaced and its ends included, the
                     functions are called with
        ax           the `matplotlib.axes.Axes` to draw into; without, those of a new figure

        Returns the axes. A derivative of a function under `jit` is compiled, too. Where values are
        not finite there is no curve.

        Raises ValueError for an order, a number of points or ends that make no sense, TypeError for
        a function whose result is not one real number, ImportError where matplotlib is not
        installed, and what the function raises.

        >>> import tapeless
        >>> def cubic(t):
        ...     return t**3 - t
        >>> axes = tapeless.jit(cubic).plot(-2, 2, order=2)
        >>> [line.get_label() for line in axes.get_lines()]
        ['cubic', 'd cubic / d t', 'd² cubic / d t²']
        >>> axes.get_lines()[1].get_ydata()[-1].item()
        11.0
        """
        return plot.plot(self, start, stop, order, points, ax)
