"""A page may hold several scenes: each looks as it does alone."""

import all_explorables
import pytest
from all_scenes import SCENES
from scenes import code_of, settle

from neuroviz.deep.hypotheses_panel import HypothesesExplorer
from neuroviz.kit import theme
from neuroviz.kit.page import painters

pytestmark = pytest.mark.browser

REDRAWN = (
    "HypothesesExplorer",
    "LearningExplorer",
    "SectionExplorer",
    "SurfaceExplorer",
    "UnrollingExplorer",
    "VirtualWeightsExplorer",
)
PLACES = """(name) => {
  const host = document.querySelector(`#${name} .nv-scene`);
  const { x: left, y: top } = host.getBoundingClientRect();
  const kinds = "h4, .nv-box, .nv-footer, button, text, svg, canvas, .cell";
  const all = [...host.querySelectorAll(kinds)];
  return all.filter((one) => one.checkVisibility()).map((part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    const name = `${part.tagName} ${part.textContent.slice(0, 40)}`;
    return [name, [x - left, y - top, width, height]];
  });
}"""
SHOW = """([name, drawn]) => {
  neurovizScenes.react(document.getElementById(name), drawn, 850);
}"""


@pytest.mark.long
def test_a_scene_looks_the_same_alone_and_among_all_others(bare_page):
    drawn = {}
    for kind in {*SCENES, HypothesesExplorer}:
        panel = kind()
        drawn[kind.__name__] = panel.figure.drawn
        panel.close()
    bare_page.emulate_media(reduced_motion="reduce")
    codes = [code_of(name) for name in painters() if name != "plotly"]

    def places_in_a_page_with(names):
        boxes = [f"<div class='nv'><div id='{name}'></div></div>" for name in names]
        bare_page.set_content(theme.css() + "".join(boxes))
        for code in codes:
            bare_page.add_script_tag(content=code)
        for name in names:
            bare_page.evaluate(SHOW, [name, drawn[name]])
        settle(bare_page)  # what begins with a move has come to rest
        return {name: bare_page.evaluate(PLACES, name) for name in names}

    together = places_in_a_page_with(drawn)
    for name in drawn:
        alone = places_in_a_page_with([name])[name]
        assert len(alone) > 5
        for one, other in zip(together[name], alone, strict=True):
            assert one[0] == other[0]
            assert one[1] == pytest.approx(other[1], abs=0.5), (name, one[0])


@pytest.mark.long
def test_a_scene_that_is_drawn_while_it_is_hidden_looks_as_one_in_sight(bare_page, few):
    """A tab of a notebook, or a folded cell: nothing has a size there."""
    bare_page.emulate_media(reduced_motion="reduce")

    def places_of(name, drawn, code, is_hidden):
        style = "display: none" if is_hidden else ""
        box = f"<div class='nv' style='{style}'><div id='{name}'></div></div>"
        bare_page.set_content(theme.css() + box)
        bare_page.add_script_tag(content=code)
        bare_page.evaluate(SHOW, [name, drawn])
        settle(bare_page)
        bare_page.evaluate("document.querySelector('.nv').style.display = ''")
        settle(bare_page)
        return bare_page.evaluate(PLACES, name)

    for kind in few(REDRAWN):
        panel = getattr(all_explorables, kind)()
        drawn = panel.figure.drawn
        code = code_of(panel.figure.painter)
        panel.close()
        seen = places_of(kind, drawn, code, is_hidden=False)
        hidden = places_of(kind, drawn, code, is_hidden=True)
        for one, other in zip(hidden, seen, strict=True):
            assert one[0] == other[0]
            assert one[1] == pytest.approx(other[1], abs=0.5), (kind, one[0])
