"""Addresses that open a panel in a state: the script of the buttons reads them, whole
or broken."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parent.parent

ASK = """async ([code, name]) => {
    const file = new Blob([code], {type: "text/javascript"});
    const buttons = await import(URL.createObjectURL(file));
    const sent = [];
    const panel = document.createElement("div");
    const el = document.createElement("div");
    const model = {get: () => name, send: (message) => sent.push(message.state)};
    panel.className = "nv";
    panel.append(el);
    document.body.append(panel);
    buttons.default.initialize({model});
    buttons.default.render({model, el});
    const made = [...el.querySelectorAll("button")];
    return [sent, made.map((button) => button.textContent)];
}"""


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("#FlagExplorer:widths=3%2C3;tokens=2", "widths=3,3;tokens=2"),
        ("#FlagExplorer@panel-3:widths=3%2C3", "widths=3,3"),
        ("#FlagExplorer:kind=%E2%88%92", "kind=−"),
        ("#FlagExplorer:widths=3%2C3%3", "widths=3,3%3"),
        ("#FlagExplorer:kind=%E2%88", "kind=%E2%88"),
        ("#100%", None),
        ("#LedgerExplorer:width=4", None),
        ("", None),
    ],
)
def test_the_buttons_stand_behind_every_address_and_read_what_they_can(
    bare_page, tmp_path, address, state
):
    (tmp_path / "page.html").write_text("<p>a page</p>", encoding="utf-8")
    bare_page.goto((tmp_path / "page.html").as_uri() + address)
    code = (ROOT / "neuroviz/kit/javascript/copy.js").read_text(encoding="utf-8")
    sent, buttons = bare_page.evaluate(ASK, [code, "FlagExplorer"])
    assert sent == ([] if state is None else [state])
    assert buttons == ["Copy", "Link"]


WHOLE, CUT = "#LedgerExplorer%3Awidth=4", "#LedgerExplorer:width=4%3"


@pytest.mark.parametrize("address", ["#100%", CUT, WHOLE, ""])
def test_the_script_of_the_live_edition_starts_at_every_address(
    bare_page, tmp_path, address
):
    """It waits for a JupyterLab where the address names a panel, and for nothing
    else."""
    (tmp_path / "page.html").write_text("<p>a page</p>", encoding="utf-8")
    bare_page.goto((tmp_path / "page.html").as_uri() + address)
    code = (ROOT / "tools/book/live/link.js").read_text(encoding="utf-8")
    asked = """async (code) => {
        let asked = false;
        Object.defineProperty(globalThis, "jupyterapp", {get: () => { asked = true; }});
        await import(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
        return asked;
    }"""
    assert bare_page.evaluate(asked, code) == ("Explorer" in address)
