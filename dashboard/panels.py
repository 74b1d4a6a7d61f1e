# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %%
# All panels on one page, one at a time, large enough for a lecture: `make dashboard` shows it without this code.
import ipywidgets as widgets

from neuroviz import explorables, theme

# In the order of the notebooks.
NAMES = (
    "DimensionExplorer FactorizationExplorer FiberExplorer LedgerExplorer SurfaceExplorer SectionExplorer "
    "ProductsExplorer SingularityExplorer FlowExplorer VirtualWeightsExplorer UnrollingExplorer RescalingExplorer "
    "HypothesesExplorer CounterexampleExplorer FlagExplorer PeelExplorer SweepExplorer OneLayerExplorer "
    "SoftmaxExplorer Figure3Explorer ExponentialsExplorer ProofExplorer CertificateExplorer SingletonExplorer "
    "SearchExplorer VariantsExplorer FormulaExplorer RealModelsExplorer MemorisationExplorer TeleportExplorer"
).split()
NAMES += sorted(set(explorables.__all__) - set(NAMES))

# %%
titles = [(getattr(explorables, name).title, name) for name in NAMES]
choice = widgets.Dropdown(options=titles, description="panel", layout={"width": "560px"})
look = widgets.ToggleButtons(options=["light", "dark"], style={"button_width": "80px"})
room = widgets.HTML(layout={"display": "none"})  # the colours of the page around the panel
stage = widgets.VBox(layout={"width": "100%"})


def show(_change: object = None) -> None:
    """The chosen panel; the one before it is closed, with what it was measuring, so that only one is alive."""
    for panel in stage.children:
        panel.close()
    stage.children = ()
    theme.use(look.value, "lecture")
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
    lines = "".join(f"--jp-{name}: {value} !important; " for name, value in colors.items())
    plain = f"body, body * {{ {lines} }} body {{ background: {ground}; color: {ink}; }}"
    boxes = f".nv-dashboard :is(select, input, button) {{ background-color: {wash} !important; color: {ink} !important; }}"
    room.value = f"<style>{plain} {boxes} .nv-title, .nv-description, .nv-status {{ color: {ink}; }}</style>"
    stage.children = (getattr(explorables, choice.value)(),)


choice.observe(show, names="value")
look.observe(show, names="value")
show()
page = widgets.VBox([room, widgets.HBox([choice, look]), stage], layout={"width": "100%"})
page.add_class("nv-dashboard")
page
