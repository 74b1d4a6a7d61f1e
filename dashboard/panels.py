# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %%
# All panels on one page, one at a time, large enough for a lecture: `make dashboard` shows it without this code.
from urllib.parse import quote

import ipywidgets as widgets

from neuroviz import explorables
from neuroviz.kit import theme

# In the order of the notebooks.
NAMES = (
    "LedgerExplorer FactorizationExplorer FiberExplorer SurfaceExplorer SectionExplorer "
    "VirtualWeightsExplorer HypothesesExplorer DimensionExplorer Figure3Explorer ProofExplorer FlowExplorer "
    "UnrollingExplorer FlagExplorer SingletonExplorer SearchExplorer "
    "VariantsExplorer FormulaExplorer RealModelsExplorer SameFunctionExplorer MemorisationExplorer"
).split()
NAMES += sorted(set(explorables.__all__) - set(NAMES))

# %%
titles = [(getattr(explorables, name).title, name) for name in NAMES]
choice = widgets.Dropdown(
    options=titles, description="panel", layout={"width": "560px"}
)
look = widgets.ToggleButtons(options=["light", "dark"], style={"button_width": "80px"})
# the colours of the page around the panel
room = widgets.HTML(layout={"display": "none"})
stage = widgets.VBox(layout={"width": "100%"})


def around() -> str:
    """The style of the page around the panel: colours of the theme, and no margin, so that 720 pixels are enough."""
    ground, ink, wash = (theme.color(role) for role in ("ground", "ink", "wash"))
    colors = {"layout-color0": ground, "layout-color1": ground, "layout-color2": wash}
    colors |= {f"ui-font-color{i}": ink for i in range(2)} | {
        "widgets-color": ink,
        "widgets-label-color": ink,
    }
    colors |= {
        "widgets-readout-color": ink,
        "widgets-input-color": ink,
        "widgets-input-background-color": ground,
    }
    lines = "".join(
        f"--jp-{name}: {value} !important; " for name, value in colors.items()
    )
    arrow = quote(
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'>"
        f"<path fill='none' stroke='{ink}' stroke-width='2' d='M5 7l4 4 4-4'/></svg>"
    )
    rules = {
        "body, body *": lines,
        "body": f"background: {ground}; color: {ink};",
        ".nv-title, .nv-description, .nv-status": f"color: {ink};",
        ".nv-dashboard :is(select, input, button)": f"background-color: {wash} !important; color: {ink} !important;",
        # The arrow that comes with the boxes is black in every theme.
        ".nv-dashboard select": f'background-image: url("data:image/svg+xml,{arrow}") !important;',
        ".lm-BoxPanel-child:has(.nv-dashboard)": "padding: 0 10px !important;",
        ".jp-Cell:has(.nv-dashboard)": "padding: 0 5px !important;",
        ".jp-Cell:has(.nv-dashboard) .jp-Cell-outputWrapper": "margin: 0 !important;",
    }
    return (
        "<style>"
        + " ".join(f"{where} {{ {what} }}" for where, what in rules.items())
        + "</style>"
    )


def show(_change: object = None) -> None:
    """The chosen panel; the one before it is closed, with what it was measuring, so that only one is alive."""
    for panel in stage.children:
        panel.close()
    stage.children = ()
    theme.use(look.value, "lecture")
    room.value = theme.css() + around()
    stage.children = (getattr(explorables, choice.value)(),)


choice.observe(show, names="value")
look.observe(show, names="value")
show()
top = widgets.HBox([choice, look], layout={"align_items": "center"})
top.add_class("nv")  # in the panel's type
page = widgets.VBox([room, top, stage], layout={"width": "100%"})
page.add_class("nv-dashboard")
page
