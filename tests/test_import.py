"""What `import neuroviz` promises: all of its names, and nothing heavy."""

import pytest

import neuroviz as nv
import neuroviz_beyond as nb

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
nb.sweep([a], progress=False).to_csv()
"""


def test_neither_an_import_nor_a_measurement_loads_anything_heavy(run_python):
    heavy = f"print([n for n in {HEAVY} if n in sys.modules])"
    said = run_python(
        f"import sys, neuroviz as nv, neuroviz_beyond as nb\n{heavy}\n"
        f"{MEASUREMENTS}\n{heavy}\nnb.functional_dimension\n{heavy}"
    )
    imported, measured, functional = said.splitlines()
    assert imported == measured == "[]"
    assert functional.startswith("['torch'")


@pytest.mark.parametrize("package", [nv, nb])
def test_public_names_are_listed_once_and_in_order(package):
    assert package.__all__ == sorted(set(package.__all__))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match="'neuroviz' has no attribute 'measure_dimensions'"
    ):
        nv.measure_dimensions  # noqa: B018


def test_one_panel_loads_no_other(run_python):
    said = run_python(
        "import sys; from neuroviz.explorables import FactorizationExplorer\n"
        "rooms = 'single_layer', 'singular', 'deep', 'softmax', 'beyond'\n"
        "rooms = tuple(f'neuroviz.{room}.' for room in rooms)\n"
        "print([name for name in sys.modules if name.startswith(rooms)])"
    )
    assert said == "[]"
