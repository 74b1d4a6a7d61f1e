"""What `import neuroviz` promises: all of its names, and nothing heavy."""

import pytest

import neuroviz as nv

HEAVY = ["torch", "plotly", "ipywidgets", "anywidget", "scipy", "sympy", "IPython", "matplotlib"]


def test_importing_neuroviz_loads_nothing_heavy(run_python):
    loaded = run_python(f"import sys, neuroviz; print([name for name in {HEAVY} if name in sys.modules])")
    assert loaded == "[]"


def test_a_measurement_and_a_formula_load_nothing_heavy(run_python):
    loaded = run_python(
        "import sys, neuroviz as nv\n"
        "a = nv.Architecture.uniform(3, 2, 2, attention='softmax')\n"
        "nv.expected_dimension(a), nv.measure_dimension(a), nv.measure_dimension(a, method='float')\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_the_check_sees_a_heavy_package_that_is_loaded(run_python):
    loaded = run_python(
        "import sys, neuroviz\n"
        "neuroviz.functional_dimension\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert "'torch'" in loaded


@pytest.mark.parametrize("name", nv.__all__)
def test_every_public_name_resolves(name):
    assert getattr(nv, name) is not None


def test_public_names_are_listed_once_and_in_order():
    assert nv.__all__ == sorted(set(nv.__all__))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'neuroviz' has no attribute 'measure_dimensions'"):
        nv.measure_dimensions  # noqa: B018


def test_every_public_name_can_be_imported_by_star(run_python):
    assert run_python("from neuroviz import *; print(functional_dimension.__name__)").startswith("functional")
