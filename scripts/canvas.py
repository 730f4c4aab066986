"""A few shapes as SVG: what scripts/pictures.py draws with."""

from __future__ import annotations

from html import escape

INK = "#24292f"
QUIET = "#6e7781"
PLAIN = "#f6f8fa"
# One a rank.
RANKS = ("#cfe2f3", "#d9ead3", "#fce5cd", "#ead1dc", "#d9d2e9", "#fff2cc", "#d0e0e3", "#f4cccc")
SOLID = ("#3d85c6", "#6aa84f", "#e69138", "#a64d79", "#674ea7", "#bf9000", "#45818e", "#cc0000")


class Canvas:
    """A picture of ``width`` by ``height`` pixels, written from back to front."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def text(self, x: float, y: float, text: str, size: int = 13, anchor: str = "middle",
             bold: bool = False, mono: bool = False, fill: str = INK) -> None:
        """Writes ``text`` with its baseline at ``y``."""
        style = (' font-weight="bold"' if bold else "") + (' font-family="monospace"' if mono else "")
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{style}>'
                          f"{escape(text)}</text>")

    def box(self, x: float, y: float, width: float, height: float, text: str = "", fill: str = PLAIN,
            size: int = 13, bold: bool = False, mono: bool = False, stroke: str = INK, dashed: bool = False) -> None:
        """A rectangle with lines of ``text`` in its middle."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
                          f'stroke="{stroke}"{dash}/>')
        lines = text.split("\n") if text else []
        top = y + height / 2 - (len(lines) - 1) * (size + 3) / 2 + size * 0.35
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + number * (size + 3), line, size, bold=bold, mono=mono)

    def line(self, x1: float, y1: float, x2: float, y2: float, arrow: bool = False, dashed: bool = False,
             stroke: str = INK, width: float = 1.2) -> None:
        """A line, or an arrow to its second end."""
        marks = (' marker-end="url(#tip)"' if arrow else "") + (' stroke-dasharray="4 3"' if dashed else "")
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" '
                          f'stroke-width="{width:g}"{marks}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, dashed: bool = False) -> None:
        self.line(x1, y1, x2, y2, arrow=True, dashed=dashed)

    def svg(self) -> str:
        return "\n".join([*self.parts, "</svg>", ""])
