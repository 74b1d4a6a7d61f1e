"""What tests do with a scene in a browser: show it, take hold of its parts, read it."""

import gzip
from collections.abc import Iterable
from pathlib import Path

from neuroviz.kit import theme
from neuroviz.kit.page import bundle
from neuroviz.singular.surface_panel import SurfaceExplorer

HELPER = Path(__file__).with_name("scene.js")
LOAD = (
    "async ([name, code]) => { const blob = new Blob([code], {type:"
    " 'text/javascript'}); window[name] = await import(URL.createObjectURL(blob)); }"
)
HEAR = """() => {
  window.cancelled = [];
  const note = ({type, target}) =>
    cancelled.push(`${type} ${target.outerHTML.slice(0, 80)}`);
  for (const kind of ["pointercancel", "touchcancel"])
    addEventListener(kind, note, true);
}"""


def code_of(painter: str) -> str:
    """A script that draws figures."""
    return gzip.decompress(bundle(painter)).decode()


def load(page, painter: str) -> None:
    """A script that draws figures as `code`, and what tests ask as `helper`."""
    page.evaluate(LOAD, ["code", code_of(painter)])
    page.evaluate(LOAD, ["helper", HELPER.read_text(encoding="utf-8")])


def ask(page, name: str, *arguments: object) -> object:
    """A function of scene.js."""
    return page.evaluate("([name, all]) => helper[name](...all)", [name, [*arguments]])


def show(
    page,
    state: str = "",
    motion: str = "no-preference",
    kind: type = SurfaceExplorer,
):
    """A panel's picture, as a page without a kernel shows it."""
    page.emulate_media(reduced_motion=motion)
    page.set_content(f"{theme.css()}<div class='nv'><div id='box'></div></div>")
    panel = kind(state=state)
    load(page, panel.figure.painter)
    redraw(page, panel)
    page.wait_for_selector(".nv-handle[transform], [role=gridcell]")
    return page


def show_on_phone(new_page, kind: type, width: int, height: int):
    """A panel's picture in a page of its own, in the middle of other text."""
    size = {"width": width, "height": height}
    page = new_page(viewport=size, has_touch=True, is_mobile=True)
    text = "<div style='height: 300px'>text</div>"
    viewport = "<meta name=viewport content='width=device-width'>"
    page.set_content(
        f"{viewport}{theme.css()}<body style='margin: 0'>{text}<div"
        f" class=nv><div id=box></div></div>{text * 4}</body>"
    )
    panel = kind()
    page.add_script_tag(content=code_of(panel.figure.painter))
    page.evaluate(
        "([m, w]) => neurovizScenes.react(box, m, w)", [panel.figure.drawn, width]
    )
    panel.close()
    settle(page)
    page.evaluate(HEAR)
    return page


SETTLE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const fades = () =>
    document.getAnimations().some((one) => one instanceof CSSTransition);
  let before, same = 0;
  const begun = performance.now();
  while (same < 5) {
    if (performance.now() - begun > 60_000) throw new Error("it goes on moving");
    await frame();
    const now = document.body.outerHTML;
    same = now === before && !fades() ? same + 1 : 0;
    before = now;
  }
}"""
PAINTED = """async () => {
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
}"""


def settle(page) -> None:
    """Wait until five frames in a row are the same, and nothing fades. What goes on by
    itself never settles: `painted` is for that."""
    page.evaluate(SETTLE)


def painted(page) -> None:
    """Wait until what was asked for is painted: in a scene that goes on by itself."""
    page.evaluate(PAINTED)


def pause(page) -> None:
    """Stop the page's clock, which `clock.install` lets go on: only `clock.run_for`
    moves it now, however slow the machine is."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)


def redraw(page, panel, width: int = 1100) -> None:
    """As Python does when it has answered."""
    ask(page, "react", panel.figure.drawn, width)
    panel.close()


def named(label: str) -> str:
    """The selector of a handle."""
    return f".nv-handle[aria-label='{label}']"


def place(page) -> dict:
    """Where the scene is: the values of the controls that it moves."""
    return ask(page, "place")


def asked(page, *names: str) -> list:
    """What these controls say."""
    return ask(page, "asked", *names)


def said(page) -> str:
    """Every word of the picture."""
    return page.evaluate("box.textContent")


def middle(page, selector: str) -> tuple[float, float]:
    """Where a handle is in the page."""
    return tuple(ask(page, "middle", selector))


def comes_to(page, selector: str, x: float, y: float, near: float = 3) -> None:
    """Wait until a handle stands so many pixels from a place of the page."""
    page.wait_for_function(
        """([selector, x, y, near]) => {
            const [a, b] = helper.middle(selector);
            return Math.hypot(a - x, b - y) < near;
        }""",
        arg=[selector, x, y, near],
    )


def dragged(page, selector: str, x: float, y: float, steps: int = 12) -> None:
    """Take a handle by the mouse to a place of the page."""
    page.mouse.move(*middle(page, selector))
    page.mouse.down()
    page.mouse.move(x, y, steps=steps)
    page.mouse.up()
    settle(page)


def touch(page, start: Iterable[float], way: Iterable[float], steps: int = 8) -> None:
    """A finger goes down at the start and moves so far."""
    session = page.context.new_cdp_session(page)
    for step in range(steps + 1):
        x, y = (at + by * step / steps for at, by in zip(start, way, strict=True))
        kind = "touchStart" if step == 0 else "touchMove"
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y}]},
        )
        page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
