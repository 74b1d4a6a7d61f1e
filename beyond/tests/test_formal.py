"""The proofs in beyond/formal/, read again by Coq where it is installed."""

import re
import shutil
import subprocess
from pathlib import Path

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
