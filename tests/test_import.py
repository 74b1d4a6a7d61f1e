"""What `import neuroviz` promises: all of its names, and nothing heavy."""

from importlib import import_module

import pytest

import neuroviz as nv
from neuroviz import explorables
from neuroviz.moved import MOVED

HEAVY = [
    "torch",
    "plotly",
    "ipywidgets",
    "anywidget",
    "scipy",
    "sympy",
    "IPython",
    "matplotlib",
]
HEAVY += ["loky", "tqdm", "pandas", "distributed", "dask"]
MEASUREMENTS = """
a = nv.Architecture.uniform(3, 2, 2, attention='softmax')
nv.expected_dimension(a), nv.measure_dimension(a)
nv.measure_dimension(a, method='float')
nv.sweep([a], progress=False).to_csv()
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [("", "[]"), (MEASUREMENTS, "[]"), ("nv.functional_dimension", "['torch'")],
)
def test_neither_an_import_nor_a_measurement_loads_anything_heavy(
    code, found, run_python
):
    said = run_python(
        f"import sys, neuroviz as nv\n{code}\nprint([n for n in {HEAVY} if n in"
        " sys.modules])"
    )
    assert said.splitlines()[-1].startswith(found)


def test_public_names_are_listed_once_and_in_order():
    assert nv.__all__ == sorted(set(nv.__all__))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match="'neuroviz' has no attribute 'measure_dimensions'"
    ):
        nv.measure_dimensions  # noqa: B018


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_old_addresses_hand_on_what_has_moved(old, new):
    assert not import_module(old).__dict__.get("__file__")
    public = [name for name in vars(import_module(new)) if not name.startswith("_")]
    assert all(
        getattr(import_module(old), name) is getattr(import_module(new), name)
        for name in public
    )


def test_teachers_notebooks_go_on_working(run_python):
    said = run_python(
        "from neuroviz.surface import SLICES; from neuroviz.block import Block\nfrom"
        " neuroviz.explorables import SurfaceExplorer; from"
        " neuroviz.explorables.presets import presets\nimport neuroviz.surface;"
        " print(neuroviz.surface.SLICES is SLICES)"
    )
    assert said == "True"


def test_a_panel_that_is_gone_says_where_its_subject_is():
    assert not set(explorables._GONE) & set(explorables.__all__)
    for name, place in explorables._GONE.items():
        with pytest.raises(AttributeError) as gone:
            getattr(explorables, name)
        assert f"no panel {name} any more" in str(gone.value) and place in str(
            gone.value
        )
    with pytest.raises(AttributeError, match="no attribute 'NoExplorer'"):
        explorables.NoExplorer  # noqa: B018


def test_one_panel_loads_no_other(run_python):
    said = run_python(
        "import sys; from neuroviz.explorables import FactorizationExplorer\n"
        "rooms = 'single_layer', 'singular', 'deep', 'softmax', 'beyond'\n"
        "rooms = tuple(f'neuroviz.{room}.' for room in rooms)\n"
        "print([name for name in sys.modules if name.startswith(rooms)])"
    )
    assert said == "[]"
