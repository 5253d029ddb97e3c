"""Bars as SVG, for build/bench/report.html and docs/performance.md."""
import html
import math
import re
import statistics

COLOURS = {"dynalith": "#1f6f54", "bare": "#8a8a8a", "DynamoDB Local": "#c2703d", "dynoxide": "#4a6fa5"}
LEFT, RIGHT, ROW, GAP = 290, 110, 18, 14  # of the bar charts
WIDTH = 960


def colour(name):
    return next((c for prefix, c in COLOURS.items() if name.startswith(prefix)), "#444")


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:,.1f}"


def bars(groups):
    """groups: [(workload, [(server, value)])]; lengths are logarithmic, since the values span five orders."""
    values = [v for _, rows in groups for _, v in rows if v > 0]
    low, high = 10 ** math.floor(math.log10(min(values))), max(values)
    span = math.log10(high / low) or 1
    parts, y = [], 4
    for workload, rows in groups:
        parts.append(f'<text x="0" y="{y + 13}" font-weight="600">{html.escape(workload)}</text>')
        for name, value in rows:
            length = max(2, (WIDTH - LEFT - RIGHT) * math.log10(max(value, low) / low) / span)
            parts.append(f'<text class="dim" x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{html.escape(name)}</text>'
                         f'<rect x="{LEFT}" y="{y + 2}" width="{length:.1f}" height="{ROW - 4}" rx="2" fill="{colour(name)}"/>'
                         f'<text x="{LEFT + length + 6:.1f}" y="{y + 13}">{number(value)}</text>')
            y += ROW
        y += GAP
    return f'<svg viewBox="0 0 {WIDTH} {y}" role="img">{"".join(parts)}</svg>'


def picture(title, groups):
    """A file of its own: on any background, in its own colours."""
    drawn = bars(groups)
    height = int(re.search(r'viewBox="0 0 \d+ (\d+)"', drawn)[1]) + 40
    inner = drawn[drawn.index(">") + 1:-len("</svg>")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 20} {height}" role="img" aria-label="{html.escape(title)}">'
            '<style>text{font:12px system-ui,sans-serif;fill:#222}.dim{fill:#666}</style>'
            f'<rect width="100%" height="100%" fill="#fff"/><text x="10" y="20" font-weight="600">{html.escape(title)}</text>'
            f'<g transform="translate(10,32)">{inner}</g></svg>\n')
