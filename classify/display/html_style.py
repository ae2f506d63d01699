"""The stylesheet of cards: light and dark, scoped by one class, no script and nothing fetched.

A card has its own paper and ink, so that it can be read on a page whose colours it does not know.
The reader's preference counts where the notebook does not say what its theme is.
"""

from __future__ import annotations

ROOT = "classify-card"

LIGHT = dict(
    paper="#ffffff", ink="#1f2328", soft="#59636e", rule="#d1d9e0", bar="#0b5cad", tail="#c6dcf3",
    note="#8a4600",
)  # fmt: skip
DARK = dict(
    paper="#0d1117", ink="#e6edf3", soft="#9ba5af", rule="#30363d", bar="#6cb6ff", tail="#1d3f63",
    note="#e3b341",
)  # fmt: skip

# JupyterLab and Notebook 7; VS Code, whose light high contrast bears both names; Colab.
_SAYS_DARK = (
    *('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast"),
    "html[theme=dark]",
)
_SAYS_LIGHT = (
    *('[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light"),
    "html[theme=light]",
)

# The class is doubled to win over the notebook's own rules for tables.
_RULES = """
@{background:var(--paper);color:var(--ink);font:14px/1.45 system-ui,sans-serif;padding:10px 14px;\
border:1px solid var(--rule);border-radius:6px;max-width:60em;overflow-x:auto;text-align:left}
@ p{margin:0 0 6px;color:inherit;overflow-wrap:anywhere}
@ .lead{font-weight:600}
@ .line{color:var(--soft);font-size:12px}
@ .note b{color:var(--note)}
@ .part{border-top:1px solid var(--rule);margin-top:10px;padding-top:8px}
@ table{border-collapse:collapse;table-layout:auto;margin:0 0 6px;font-size:13px;width:auto;\
color:inherit;border:0}
@ caption{text-align:left;color:var(--soft);font-size:12px;caption-side:top;padding:0}
@ tr:nth-child(n),@ tr:hover{background:none;border:0}
@ tr:nth-child(n)>*{text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;\
color:inherit;font-weight:400;white-space:pre-wrap;overflow-wrap:anywhere;background:none}
@ thead tr:nth-child(n)>*,@ .facts tr:nth-child(n)>th{color:var(--soft)}
@ tr:nth-child(n)>th{overflow-wrap:break-word;max-width:24em}
@ tr:nth-child(n)>td{min-width:5em}
@ tr.strong:nth-child(n)>*{font-weight:600}
@ tr:nth-child(n)>.share{white-space:nowrap;font-variant-numeric:tabular-nums}
@ .bar{display:inline-flex;width:13em;height:.75em;margin-right:8px;border-radius:2px;\
background:var(--paper);box-shadow:0 0 0 1px var(--rule);print-color-adjust:exact}
@ .bar span{box-sizing:border-box;height:100%;background:var(--bar);border-radius:2px}
@ .bar .tail{background:var(--tail);border:1px solid var(--bar);border-left:0}
@ pre{white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal;margin:0 0 6px;\
padding:0 0 0 10px;border-left:3px solid var(--rule);color:inherit;background:none;\
font:13px/1.45 ui-monospace,monospace}
@ svg{max-width:100%;height:auto}
"""

# Pictures of calibration follow the reader's preference by themselves; here, the card.
_PICTURES = """
@ .paper{fill:var(--paper)}
@ .ink,@ .head{fill:var(--ink)}
@ .soft,@ .bars{fill:var(--soft)}
@ .grid{stroke:var(--rule)}
@ .ideal{stroke:var(--soft)}
@ .band{stroke:var(--tail)}
@ .area{fill:var(--tail)}
@ .line{stroke:var(--bar)}
@ .in{fill:var(--bar);stroke:var(--bar)}
@ .out{fill:var(--paper);stroke:var(--bar)}
"""


def stylesheet() -> str:
    """Return the stylesheet."""
    root = f".{ROOT}"
    dark = _colours(",".join(f"{page} {root}" for page in _SAYS_DARK), DARK)
    light = _colours(",".join(f"{page} {root}" for page in _SAYS_LIGHT), LIGHT)
    prefers = f"@media(prefers-color-scheme:dark){{{_colours(root, DARK)}}}"
    rules = (_RULES + _PICTURES).replace("@", root * 2).replace("\n", "")
    return f"{_colours(root, LIGHT)}{prefers}{dark}{light}{rules}"


def _colours(selector: str, colours: dict[str, str]) -> str:
    return f"{selector}{{{''.join(f'--{name}:{value};' for name, value in colours.items())}}}"
