"""axe-core finds nothing to complain of in any scene, with and without colours turned
to dark, nor on any page of the site, WCAG 2.1 A and AA.

Of live panels it is asked in test_live.py.
"""

from itertools import product

import pytest
from all_scenes import SCENES
from axe import AXE, complaints
from fingers import PHONE
from node import need_node
from scenes import painted, redraw
from test_book import browse, built, notebooks, wake  # noqa: F401

pytestmark = pytest.mark.browser

FEW = 4  # pages besides the notebooks, in each of four looks
# Rules for a whole page, of which a scene is a part.
OF_A_PAGE = (
    "region",
    "document-title",
    "html-has-lang",
    "landmark-one-main",
    "page-has-heading-one",
    "bypass",
)
RUN = """async (off) => {
  const rules = Object.fromEntries(off.map((name) => [name, {enabled: false}]));
  const {violations} = await axe.run("#box", {rules});
  const places = (nodes) => nodes.map((one) => one.html.slice(0, 150)).join(" | ");
  return violations.map(({id, nodes}) => `${id}: ${places(nodes)}`);
}"""


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SCENES, key=lambda kind: kind.__name__))
def test_axe_finds_nothing_in_a_scene(scene, look, kind):
    need_node()
    for mode, width in product(("light", "dark"), (1100, 390)):
        look(mode)
        page = scene("", kind=kind)
        redraw(page, kind(), width)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate(RUN, [*OF_A_PAGE])
        assert not found, "\n".join([f"{mode}, {width} px wide:", *found])


def test_axe_finds_what_is_wrong(bare_page):
    """A control inside an image, and a button without a name."""
    need_node()
    wrong = "<div role=img aria-label=x><button></button></div>"
    bare_page.set_content(f"<div id='box'>{wrong}</div>")
    bare_page.evaluate(AXE.read_text(encoding="utf-8"))
    found = bare_page.evaluate(RUN, [*OF_A_PAGE])
    assert any(one.startswith("button-name") for one in found)
    assert any(one.startswith("nested-interactive") for one in found)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_on_a_page(built, browse, few, width, mode):  # noqa: F811
    """A few pages, others for each width and mode; `--full` looks at all."""
    # The pages of a class need its server: test_class_pages.py looks at them.
    pages = {one for one in built.rglob("*.html") if built / "class" not in one.parents}
    others = sorted(pages - {*notebooks(built)})
    size = PHONE if width == 390 else {"viewport": {"width": width, "height": 900}}
    for path in [*few(notebooks(built)), *few(others, FEW)]:
        page = browse(path, color_scheme=mode, **size)
        for number in range(page.locator(".nv-panel").count()):
            wake(page, number)
        page.evaluate(
            "for (const one of document.querySelectorAll('details')) one.open = true"
        )
        painted(page)
        found = complaints(page)
        assert not found, "\n".join([path.relative_to(built).as_posix(), *found])
        page.context.close()


def test_axe_finds_what_is_wrong_on_a_page(built, browse):  # noqa: F811
    page = browse(built / "index.html")
    wrong = {
        "aria-required-attr": "<p role=heading>x</p>",
        "scrollable-region-focusable": "<pre style='width: 9px; overflow: auto'>"
        "long words</pre>",
        "label-content-name-mismatch": "<button aria-label=other>Live</button>",
    }
    page.evaluate("html => document.body.innerHTML = html", "".join(wrong.values()))
    assert {one.partition(":")[0] for one in complaints(page)} >= {*wrong}
