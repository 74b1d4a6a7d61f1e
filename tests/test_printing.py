"""What neuroviz prints can be printed anywhere, also into a file of Windows' own
encoding."""

import os
import subprocess
import sys

import pytest

from neuroviz.kit.printing import _SIGNS, plain

RESULTS = """
import numpy as np
import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.rank.weights import unflatten
a = nv.Architecture((3, 3, 3), (1, 2))
b = nv.Architecture((3, 3, 3), (2, 2), 3, "softmax")
c = nb.Transformer((3, 3, 3), (2, 2), 3, heads=2, skip=True, causal=True)
for one in (a, b, c):
    print(one, repr(one), nb.what_is_known(one), repr(nb.what_is_known(one)))
    print(nb.expected_dimension(one), nv.estimate_cost(one))
    print(nv.is_identifiable(one, lambda weights: weights["1.V"].sum()))
    print(nv.measure_dimension(one), nv.measure_dimension(one, method="float"))
    print(nv.kernel_ledger(one))
print(nv.paper_formula(a), nv.general_formula(b), nv.rank_by_inputs(a))
print(nb.local_check(b))
print(nb.sweep([a, b], progress=False))
print(nb.certify(b))
parameters = np.random.default_rng(0).normal(size=a.num_parameters)
print(nb.search_fiber(a, unflatten(a, parameters)))
"""


def python(encoding, *words):
    """What a fresh interpreter prints into a file of this encoding."""
    env = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, *words], capture_output=True, env=env)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode(encoding.partition(":")[0])


# Of the three, ASCII has the fewest signs.
OTHERS = [pytest.param(name, marks=pytest.mark.full) for name in ("cp1252", "cp437")]


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", *OTHERS])
def test_every_result_can_be_printed_in_readable_signs(encoding):
    said = python(encoding, "-c", RESULTS)
    assert "3->3->3" in said and "\\u" not in said


def test_signs_stay_as_they_are_where_the_output_has_them_or_the_reader_chose():
    code = (
        "import neuroviz as nv, sys; print(nv.Architecture((3, 3), (2,)),"
        " sys.stdout.errors)"
    )
    for encoding, arrow, errors in (
        ("utf-8", "→", "strict"),
        ("ascii:replace", "?", "replace"),
    ):
        said = python(encoding, "-c", code)
        assert f"3{arrow}3" in said and said.split()[-1] == errors
    assert "²" in python("cp1252", "-c", "import neuroviz; print('δ²')")


def test_a_sign_keeps_its_meaning():
    assert plain("−3 ≤ a₁₂, 10⁻¹² ≥ δ·Σ") == "-3 <= a12, 10^-12 >= delta*Sigma"
    assert plain("é") == "\\xe9"
    assert all(plain(sign).isascii() and "\\" not in plain(sign) for sign in _SIGNS)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_the_command_runs_as_a_module_and_names_any_folder(tmp_path, encoding):
    assert python(encoding, "-m", "neuroviz", "--version").startswith("neuroviz ")
    said = python(encoding, "-m", "neuroviz", "notebooks", str(tmp_path / "δ名"))
    assert (
        "files copied" in said
        and (tmp_path / "δ名" / "notebooks" / "00_start.ipynb").exists()
    )
    assert "usage: neuroviz" in python(encoding, "-m", "neuroviz", "--help")
