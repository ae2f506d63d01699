"""The shell of pages: one file, its policy, its data, and the table that every page uses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from classify.adapters.report.shell import (
    PAGE,
    Shell,
    html_page,
    packed_payload,
    plain_payload,
)
from classify.display.safe_text import visible

HOSTILE = "</script><script>document.title='taken'</script><!-- <img src=x onerror=alert(1)> &amp;"
Opened = Callable[..., Page]


def written(folder: Path, script: str, *payloads: object) -> Path:
    """Write a page whose script may import the modules of every page."""
    entry = folder / "entry.js"
    entry.write_text(script.replace("PAGE", _relative(folder)), encoding="utf-8")
    shell = Shell("A <page>", entry, (PAGE / "theme.css", PAGE / "grid.css"))
    values = [
        plain_payload(f"plain-{n}", {"value": str(value)}) for n, value in enumerate(payloads)
    ]
    later = [packed_payload(f"packed-{n}", [str(value)]) for n, value in enumerate(payloads)]
    target = folder / "page.html"
    target.write_text("".join(html_page(shell, values, later=later)), encoding="utf-8")
    return target


def _relative(folder: Path) -> str:
    return "./" + "../" * len(folder.resolve().parts[1:]) + str(PAGE).lstrip("/")


def test_hostile_data_comes_back_as_it_went_in(tmp_path: Path, opened: Opened) -> None:
    """Neither markup in a value nor odd characters end the script or change the value."""
    text = HOSTILE + "\u2028\u202e\x1b[31m\x00é🙃"
    page = opened(
        written(
            tmp_path,
            'import { packedPayload, plainPayload } from "PAGE/payloads.js";\n'
            'globalThis.plain = plainPayload("plain-0").value;\n'
            'packedPayload("packed-0").then((value) => { globalThis.packed = value[0]; });\n',
            text,
        )
    )

    page.wait_for_function("globalThis.packed !== undefined")
    assert page.evaluate("[plain, packed]") == [text, text]
    assert page.title() == "A <page>"


def test_the_policy_stops_any_other_script(tmp_path: Path, browser_page: Page) -> None:
    """Markup that did get in would run nothing, and could fetch nothing."""
    target = written(tmp_path, "globalThis.ran = true;\n")
    spoilt = target.read_text(encoding="utf-8").replace(
        "</body>",
        "<script>globalThis.injected = true;</script><img src='http://127.0.0.1:9/x'></body>",
    )
    target.write_text(spoilt, encoding="utf-8")

    browser_page.goto(target.as_uri())

    assert browser_page.evaluate("[globalThis.ran, globalThis.injected]") == [True, None]


def test_the_same_data_gives_the_same_page(tmp_path: Path) -> None:
    """No date and no chance in it: pages can be compared and kept under version control."""
    first = written(tmp_path, "globalThis.x = 1;\n", "a").read_bytes()
    again = written(tmp_path, "globalThis.x = 1;\n", "a").read_bytes()

    assert first == again


def test_modules_run_once_and_before_their_importers(tmp_path: Path, opened: Opened) -> None:
    """Two that import the same module share it, and their own names do not meet."""
    (tmp_path / "a.js").write_text("export const seen = [];\nconst own = 'a';\nseen.push(own);\n")
    (tmp_path / "b.js").write_text(
        'import { seen } from "./a.js";\nconst own = "b";\n'
        "export function add(text) {\n  seen.push(own + text);\n}\n"
    )

    page = opened(
        written(
            tmp_path,
            'import { seen } from "./a.js";\nimport { add } from "./b.js";\n'
            'const own = "!";\nadd(own);\nglobalThis.seen = seen;\n',
        )
    )

    assert page.evaluate("seen") == ["a", "b!"]


@pytest.mark.parametrize("path", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_no_module_can_turn_text_into_markup_or_end_its_script(path: Path) -> None:
    """The ways to do so are used nowhere."""
    text = path.read_text(encoding="utf-8")

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|</script", text
    )


def test_the_page_shows_invisible_characters_like_the_terminal(
    tmp_path: Path, opened: Opened
) -> None:
    """Two languages, one rule: for every character of the kinds that hide, and some that do not."""
    text = "".join(
        chr(code)
        for code in range(0x110000)
        if code < 0x300
        or unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")
        or chr(code) in "é🙃中\ufe0f\u034f\u115f\u3164\uffa0\U000e0100"
    )
    text += "a\u200db é\u200db 👩\u200d🚀 \u200c"
    page = opened(
        written(
            tmp_path,
            'import { visible } from "PAGE/dom.js";\n'
            'import { plainPayload } from "PAGE/payloads.js";\n'
            'const { value } = plainPayload("plain-0");\n'
            "globalThis.shown = [visible(value), visible(value, '\\n')];\n",
            text,
        )
    )

    assert page.evaluate("shown") == [visible(text), visible(text, keep="\n")]


def test_a_long_table_holds_only_the_rows_in_sight_and_follows_the_keyboard(
    tmp_path: Path, opened: Opened
) -> None:
    """Of a hundred thousand rows the last is reached with one key and opened with another."""
    page = opened(
        written(
            tmp_path,
            'import { Grid } from "PAGE/grid.js";\n'
            "const opened = [];\n"
            "const grid = new Grid({\n"
            '  label: "Rows",\n'
            '  columns: [{ key: "id", title: "Id", width: "100px", sortable: true }],\n'
            "  cell: (row) => `row ${row}`, open: (row) => opened.push(row), sort: () => {},\n"
            "});\n"
            "document.body.append(grid.element);\n"
            "grid.show(Uint32Array.from({ length: 100000 }, (_, row) => row));\n"
            "globalThis.rows = opened;\n",
        )
    )

    page.focus(".grid")
    for key in ("ArrowDown", "Enter", "End", "Enter", "ArrowUp", "Enter", "Home", "Enter"):
        page.keyboard.press(key)

    assert page.evaluate("rows") == [1, 99999, 99998, 0]
    assert page.locator(".grid").get_attribute("aria-rowcount") == "100001"
    assert page.locator(".grid-body .grid-row").count() < 60
    active = page.locator(".grid").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").inner_text() == "row 0"
