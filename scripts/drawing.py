# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Block diagrams and timing diagrams as SVG: boxes, frames, arrows and waves on a grid that the caller lays out. Text stays
text; colours follow the reader's light or dark scheme. Sizes are SVG units (pixels). Standard library only."""
from xml.sax.saxutils import escape

LIGHT = {"page": "#ffffff", "ink": "#1f2328", "dim": "#59636e", "frame": "#d1d9e0",
         "block": ("#e8f1fd", "#3b6fb6"), "memory": ("#fff4d6", "#a67c00"), "port": ("#e6f6ea", "#2f8146"), "other": ("#f3f4f6", "#818b98")}
DARK = {"page": "#0d1117", "ink": "#e6edf3", "dim": "#9198a1", "frame": "#3d444d",
        "block": ("#13233a", "#6ea8fe"), "memory": ("#33270a", "#d9a521"), "port": ("#10301b", "#56b870"), "other": ("#1b2129", "#818b98")}
KINDS = ("block", "memory", "port", "other")
SANS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def colours(scheme, tiles):
    rules = [f".page{{fill:{scheme['page']}}}", f"text{{fill:{scheme['ink']}}}", f".dim{{fill:{scheme['dim']}}}",
             f".frame{{fill:none;stroke:{scheme['frame']}}}", f".line{{stroke:{scheme['ink']}}}", f".thin{{stroke:{scheme['dim']}}}",
             f".head{{fill:{scheme['ink']}}}", f".halo{{stroke:{scheme['page']}}}"]
    rules += [f".{kind}{{fill:{scheme[kind][0]};stroke:{scheme[kind][1]}}}" for kind in KINDS]
    if tiles:
        rules += [f".{kind}-tile{{fill:{scheme[kind][1]}}}" for kind in KINDS]
    return "".join(rules)


class Drawing:
    def __init__(self, width, height, title, about):
        self.size, self.title, self.about = (width, height), title, about
        self.parts = []
        self.tiled = False  # colours of tiles are needed

    # ---- text
    def text(self, x, y, words, kind="", anchor="middle", size=13):
        """`kind`: name (of the RTL, in monospace), dim, strong; several with a space between."""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>')

    # ---- boxes
    def frame(self, x, y, width, height, words, name=""):
        self.parts.append(f'<rect class="frame" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" stroke-dasharray="6 4"/>')
        self.text(x + 10, y + 18, words, "strong", "start")
        if name:
            self.text(x + width - 10, y + 18, name, "name", "end", 12)

    def box(self, x, y, width, height, words, names=(), notes=(), kind="block"):
        """A block: a title, names of the RTL, and what there is to say. Returns it, for arrows."""
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" stroke-width="1.5"/>')
        lines = [(w, "strong", 14) for w in words.split("\n") if w] + [(n, "name", 12) for n in names] + [(n, "dim", 12) for n in notes]
        top = y + height / 2 - 16.5 * (len(lines) - 1) / 2 + 4.5
        for i, (line, style, size) in enumerate(lines):
            self.text(x + width / 2, top + 16.5 * i, line, style, size=size)
        return Box(x, y, width, height)

    # ---- arrows
    def arrow(self, points, words="", at=None, both=False, thin=False, anchor="middle"):
        """Through these points, with a head at the end; `at`: where its words stand, else beside its middle."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        style = "thin" if thin else "line"
        dash = ' stroke-dasharray="4 3"' if thin else ""
        self.parts.append(f'<path class="{style}" d="{path}" fill="none" stroke-width="1.5"{dash} marker-end="url(#head)"{start}/>')
        if words:
            (x0, y0), (x1, y1) = points[0], points[-1]
            x, y = at or ((x0 + x1) / 2, (y0 + y1) / 2 - 6)
            self.label(x, y, words, anchor)

    def label(self, x, y, words, anchor="middle"):
        """Dim words, readable over a line."""
        shape = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="12"'
        self.parts.append(f'<text class="halo" {shape} fill="none" stroke-width="5" aria-hidden="true">{escape(words)}</text>')
        self.parts.append(f'<text class="dim" {shape}>{escape(words)}</text>')

    def line(self, points, kind="thin", width=1.0):
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path class="{kind}" d="{path}" fill="none" stroke-width="{width:g}"/>')

    def shape(self, points, kind):
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points) + "Z"
        self.parts.append(f'<path class="{kind}" d="{path}" stroke-width="1.2"/>')

    def tiles(self, x, y, size, places, kind):
        """Squares of a grid, a set of (column, row); neighbours of a row become one."""
        self.tiled = True
        path = []
        for column, row in sorted(places, key=lambda at: (at[1], at[0])):
            if (column - 1, row) in places:
                continue
            end = column
            while (end, row) in places:
                end += 1
            path.append(f"M{x + size * column:g} {y + size * row:g}h{size * (end - column):g}v{size:g}h{size * (column - end):g}z")
        self.parts.append(f'<path class="{kind}-tile" d="{"".join(path)}"/>')

    def svg(self):
        width, height = self.size
        style = (f"text{{font-family:{SANS}}}.name{{font-family:{MONO}}}.strong{{font-weight:600}}" + colours(LIGHT, self.tiled)
                 + "@media (prefers-color-scheme:dark){" + colours(DARK, self.tiled) + "}")
        head = ('<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
                '<path class="head" d="M0 0L10 5L0 10Z"/></marker>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">\n'
                f"<title>{escape(self.title)}</title>\n<desc>{escape(self.about)}</desc>\n<style>{style}</style>\n<defs>{head}</defs>\n"
                f'<rect class="page" width="{width:g}" height="{height:g}" rx="8"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


class Box:
    """The place of a box, and points on its sides; `share`: where on the side, 0 to 1."""

    def __init__(self, x, y, width, height):
        self.x, self.y, self.width, self.height = x, y, width, height

    def left(self, share=0.5):
        return self.x, self.y + share * self.height

    def right(self, share=0.5):
        return self.x + self.width, self.y + share * self.height

    def top(self, share=0.5):
        return self.x + share * self.width, self.y

    def bottom(self, share=0.5):
        return self.x + share * self.width, self.y + self.height


def waves(title, about, wave):
    """A timing diagram of WaveJSON: `signal`, a list of {name, wave, data}; 0 1 low and high, p a clock, = data, x unknown,
    . as before; a string is a heading. `from`: number of the first cycle."""
    step, row, left = 44, 34, 190
    cycles = max(len(s["wave"]) for s in wave["signal"] if isinstance(s, dict))
    drawing = Drawing(left + cycles * step + 20, 58 + row * len(wave["signal"]), title, about)
    for c in range(cycles + 1):
        drawing.line([(left + c * step, 34), (left + c * step, 40 + row * len(wave["signal"]))], "frame")
    for c in range(cycles):
        drawing.text(left + (c + 0.5) * step, 26, str(wave.get("from", 0) + c), "dim", size=11)
    for i, signal in enumerate(wave["signal"]):
        y = 46 + row * i
        if isinstance(signal, str):
            drawing.text(12, y + 14, signal, "strong", "start", 12)
        else:
            drawing.text(left - 12, y + 14, signal["name"], "name", "end", 12)
            levels(drawing, signal, left, y, step)
    return drawing


def levels(drawing, signal, left, y, step):
    """One signal: runs of equal states, data with their words."""
    high, low, slope = y, y + 20, 3
    data = list(signal.get("data", []))
    runs = []
    for c, state in enumerate(signal["wave"]):
        if state == "." and runs:
            runs[-1][2] = c + 1
        else:
            runs.append([state, c, c + 1])
    before = None
    for state, begin, end in runs:
        x0, x1 = left + begin * step, left + end * step
        if state == "p":
            for c in range(begin, end):
                x = left + c * step
                drawing.line([(x, low), (x, high), (x + step / 2, high), (x + step / 2, low), (x + step, low)], "line", 1.5)
        elif state in "01":
            level = high if state == "1" else low
            start = [(x0, high if before == "1" else low)] if before in ("0", "1") else []
            drawing.line(start + [(x0, level), (x1, level)], "line", 1.5)
        else:
            kind = "other" if state == "x" else "block"
            drawing.shape([(x0, (high + low) / 2), (x0 + slope, high), (x1 - slope, high), (x1, (high + low) / 2), (x1 - slope, low),
                           (x0 + slope, low)], kind)
            if state == "=" and data:
                drawing.text((x0 + x1) / 2, y + 14, data.pop(0), "", size=11)
        before = state
