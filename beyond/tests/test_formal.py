"""The proofs in beyond/formal/, read again by Coq where it is installed."""

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import flint
import numpy as np
import pytest

FORMAL = Path(__file__).parents[1] / "formal"


def check(source: str, folder: Path) -> subprocess.CompletedProcess:
    if shutil.which("coqc") is None:
        pytest.skip(
            "coqc is not installed here (Debian: coq and libcoq-mathcomp-algebra)"
        )
    (folder / "proof.v").write_text(source, encoding="utf-8")
    return subprocess.run(
        ["coqc", "-q", "-w", "none", "proof.v"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(FORMAL.glob("*.v")), ids=lambda path: path.stem)
def test_coq_reads_every_proof_and_nothing_else_is_assumed(tmp_path, path):
    source = path.read_text(encoding="utf-8")
    assert not re.search(
        r"\b(Admitted|admit|Axiom|Conjecture|Parameter|Hypothesis)\b", source
    )
    theorems = re.findall(r"^Theorem (\w+)", source, re.M)
    assert (
        theorems
        and re.findall(r"^Print Assumptions (\w+)\.$", source, re.M) == theorems
    )
    read = check(source, tmp_path)
    assert read.returncode == 0, read.stderr
    assert read.stdout.split("\n") == ["Closed under the global context"] * len(
        theorems
    ) + [""]


def test_a_false_proof_would_be_seen(tmp_path):
    source = (FORMAL / "TheoremF.v").read_text(encoding="utf-8")
    wrong = source.replace("B *m S + B^T *m S + S *m B = 0", "B *m S + B^T *m S = 0", 1)
    assert wrong != source and check(wrong, tmp_path).returncode != 0


def test_every_proof_is_told_in_the_mathematics():
    page = (FORMAL.parents[1] / "beyond/docs/checks.md").read_text(encoding="utf-8")
    assert {path.name for path in FORMAL.glob("*.v")} == set(
        re.findall(r"formal/(\w+\.v)\)", page)
    )


def matrix_units(rows, columns):
    for place in product(range(rows), range(columns)):
        unit = np.zeros((rows, columns), dtype=int)
        unit[place] = 1
        yield unit


def kernel_of_one_layer(A, V, causal, draw):
    """Dimension of the kernel of the derivative, over Q, on three tokens.

    A: (heads, d, d), V: (heads, d_out, d), whole numbers.
    """
    heads, d_out, d = V.shape
    inputs = draw.integers(-9, 10, (heads * d * (d + d_out), d, 3))
    seen = np.triu if causal else np.asarray
    directions = []
    for head in range(heads):
        for dV in matrix_units(d_out, d):
            slopes = [dV @ X @ seen(X.T @ A[head] @ X) for X in inputs]
            directions.append(np.concatenate(slopes, axis=None).tolist())
        for dA in matrix_units(d, d):
            slopes = [V[head] @ X @ seen(X.T @ dA @ X) for X in inputs]
            directions.append(np.concatenate(slopes, axis=None).tolist())
    return len(directions) - flint.fmpz_mat(directions).rank()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("d", "d_out", "heads"), [(2, 2, 2), (3, 2, 2), (2, 3, 2), (3, 3, 3), (4, 3, 3)]
)
def test_the_kernel_of_theorem_m_has_as_many_dimensions(d, d_out, heads, causal):
    draw = np.random.default_rng(0)
    A = draw.integers(-9, 10, (heads, d, d))
    V = draw.integers(-9, 10, (heads, d_out, d))
    assert kernel_of_one_layer(A, V, causal, draw) == heads**2
    # A_h = u k_hᵀ and V_h = o_h wᵀ
    u, w = np.eye(d, dtype=int)[:2]
    k = draw.integers(-9, 10, (heads, d))
    o = draw.integers(-9, 10, (heads, d_out))
    A = np.array([np.outer(u, k_h) for k_h in k])
    V = np.array([np.outer(o_h, w) for o_h in o])
    assert kernel_of_one_layer(A, V, causal, draw) == heads**2
    # The hypothesis that no w_h is a multiple of a u_h cannot go.
    V[0] = np.outer(o[0], 2 * u)
    assert kernel_of_one_layer(A, V, causal, draw) > heads**2
