"""One result by itself in a notebook."""

from __future__ import annotations


class Rich:
    """A result that a notebook shows as a table: its models, or its rows, down, its numbers across."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # The tables are not needed where nothing is shown.
        from sago_harness.report.result import result_table

        return result_table(self)._repr_html_()
