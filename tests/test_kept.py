"""What nbconvert makes of a notebook, without Python and without the internet: words
and pictures."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter, SlidesExporter

from neuroviz.kit.page import _NOTICE, SAVED
from neuroviz_beyond.explorables import FlagExplorer

pytestmark = pytest.mark.browser
EXPORTERS = {"html": HTMLExporter, "slides": SlidesExporter}
CODE = (
    "from neuroviz.explorables import SurfaceExplorer\n"
    "from neuroviz_beyond.explorables import FlagExplorer\n"
    "FlagExplorer()"
)
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="


@pytest.fixture
def read_offline(bare_page, tmp_path):
    """Opens what an exporter makes of a notebook, in a page that reaches nobody."""
    bare_page.route("http*://**", lambda route: route.abort())

    def read(notebook, exporter):
        text, _ = EXPORTERS[exporter]().from_notebook_node(notebook)
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        bare_page.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
        return bare_page

    return read


def notebook_of(*cells):
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]
    )
    made.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
    }
    return made


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_pictures_that_a_saved_notebook_keeps_are_seen_beside_their_words(
    read_offline, exporter
):
    notebook = notebook_of("FlagExplorer()")
    panel = FlagExplorer()
    picture = {
        "text/html": f'{_NOTICE}<img class="nv-kept" src="{PIXEL}">',
        "text/plain": "",
    }
    kept = [picture, panel._repr_mimebundle_()]
    notebook.cells[0].outputs = [
        nbformat.v4.new_output("display_data", data) for data in kept
    ]
    page = read_offline(notebook, exporter)
    assert page.locator("img.nv-kept").is_visible()
    assert (
        page.locator("p", has_text=panel.title).is_visible()
        and page.locator("p", has_text=SAVED).is_visible()
    )
    panel.close()


@pytest.mark.long
@pytest.mark.parametrize("exporter", EXPORTERS)
def test_a_notebook_that_nbconvert_has_run_shows_words_and_pictures(
    read_offline, exporter
):
    notebook = notebook_of(
        CODE, "SurfaceExplorer()", "FlagExplorer(state='widths=4,4,4;head_dims=2,2')"
    )
    NotebookClient(notebook, kernel_name="python3").execute()
    page = read_offline(notebook, exporter)
    # two of plotly
    page.wait_for_function(
        "document.querySelectorAll('[id^=nv-] .main-svg').length >= 4"
    )
    page.wait_for_selector("[id^=nv-] canvas")
    said = page.locator("p:visible").all_inner_texts()
    assert [text.split("?")[0] for text in said if "?" in text] == [
        "What do later layers see",
        "Where is the set of functions singular",
        "What do later layers see",
    ]
    heights = page.locator("[id^=nv-]").evaluate_all(
        "all => all.map(one => one.clientHeight)"
    )
    assert len(heights) == 3 and min(heights) > 300
