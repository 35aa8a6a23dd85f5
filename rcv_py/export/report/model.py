"""A report independent of its format: sections of sentences, tables and plots, with anchors and links.

Cells and plots name their subject; HTML and Markdown are written from the same sections.  Writers omit a link
to an anchor that no section defines, so a section need not know the others.
"""

from collections.abc import Sequence

from rcv_py.base.record import Value


class ReportCell(Value):
    """One value of a table as shown, and its link."""

    text: str
    anchor: str = ""  # the cell is this place: the first cell of a name wins
    link: str = ""  # anchor in the report that it links to
    value: float | None = None  # for sorting; None: by text
    share: float | None = None  # 0 to 1: how much of the cell a bar fills
    is_code: bool = False
    tip: str = ""  # what the mouse shows: the unabridged text
    is_strong: bool = False
    weight: str = ""  # "warning" or "error": its colour
    file: str = ""  # name of a file next to the page that it links to


class ReportColumn(Value):
    """A column of a table: one cell per row."""

    title: str
    cells: Sequence[ReportCell]
    tip: str = ""  # a sentence: what is counted, over what
    is_number: bool = False


class ReportTable(Value):
    """Columns of equal length."""

    columns: Sequence[ReportColumn]
    caption: str = ""
    is_folded: bool = False  # HTML shows only the caption until it is opened

    @property
    def rows(self) -> list[tuple[ReportCell, ...]]:
        """The cells of each row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


class ReportShare(Value):
    """A part of a total in a stacked bar; `role` names its colour (see `svg.COLORS`)."""

    name: str
    value: float
    role: str


class Stacked(Value):
    """Parts of a total."""

    title: str
    parts: tuple[ReportShare, ...]
    unit: str = "cycles"


class ReportCurve(Value):
    """A step function of time: `values[i]` from `times[i]` on; the last time is the end."""

    title: str
    times: Sequence[int]
    values: Sequence[float]
    unit: str = "waves"


class ReportHistogram(Value):
    """Bin i counts values from `edges[i]` up to `edges[i + 1]`."""

    title: str
    edges: Sequence[int]
    counts: Sequence[int]
    unit: str = "cycles"


class Series(Value):
    """One part of every bar: its name, one value per bar, and the role of its colour (its name if empty)."""

    name: str
    values: Sequence[float]
    role: str = ""


class ReportBars(Value):
    """Bars below each other on one scale, each made of one value of every series."""

    title: str
    names: Sequence[str]
    series: Sequence[Series]
    unit: str = "cycles"
    links: Sequence[str] = ()  # anchors, one a bar, or none at all

    def parts(self, row: int) -> list[ReportShare]:
        """The parts of one of the bars."""
        return [ReportShare(one.name, one.values[row], one.role or one.name) for one in self.series]


Plot = Stacked | ReportCurve | ReportHistogram | ReportBars


class ReportNote(Value):
    """A sentence; `weight` is "info", "warning" or "error"."""

    text: str
    weight: str = "info"


class Prose(Value):
    """A paragraph, after its `label` if any; the lead has the main result."""

    text: str
    label: str = ""
    is_lead: bool = False
    is_quiet: bool = False  # how to read a number


class ReportListing(Value):
    """Lines to copy, such as commands; with a caption they are folded away."""

    lines: tuple[str, ...]
    language: str = "sh"
    caption: str = ""


class Subheading(Value):
    """A heading inside of a section."""

    text: str
    anchor: str = ""


Part = ReportTable | Plot | ReportNote | Prose | ReportListing | Subheading


class ReportSection(Value):
    """A heading with its contents."""

    id: str
    title: str
    parts: Sequence[Part]
    intro: str = ""  # a sentence or two: what the numbers are


class Report(Value):
    """All sections about one capture."""

    title: str
    subtitle: str
    sections: tuple[ReportSection, ...]
    made_with: str  # rcv and its version

    def anchors(self) -> set[str]:
        """Every place that a link can lead to."""
        found = {section.id for section in self.sections}
        for section in self.sections:
            for part in section.parts:
                if isinstance(part, ReportTable):
                    found |= {cell.anchor for column in part.columns for cell in column.cells if cell.anchor}
                elif isinstance(part, Subheading) and part.anchor:
                    found.add(part.anchor)
        return found
