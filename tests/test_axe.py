"""axe-core finds nothing to complain of in any scene, with and without colours turned
to dark."""

from itertools import product

import pytest
from all_scenes import SCENES
from node import WEB, need_node
from scenes import redraw

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
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
