"""Eq. 12, one term at a time, and the reflection of Figure 4."""

from neuroviz.attention.unrolling import unroll
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import Controls
from neuroviz.kit.words import numbered
from neuroviz_beyond.reasons import Reasons
from neuroviz_beyond.unrolling.unrolled_facts import unrolled_picture
from neuroviz_beyond.unrolling.unrolling import (
    MAX_PLACE,
    MAX_TOKENS,
    UnrollSetting,
    UnrollStudy,
    study_unrolling,
)
from neuroviz_beyond.unrolling.words import (
    coefficient_name,
    describe,
    number,
    number_of_terms,
    term_in_numbers,
)


class UnrollingExplorer(Panel):
    """A deep lightning network as a sum of products, one term at a time, and the mirror
    in it.

    Controls: see `UnrollSetting`. Tokens are counted from 1 here, as in the paper. See
    `Panel`.

    >>> panel = UnrollingExplorer()
    >>> panel.controls["reflect"].value = True
    >>> "M₂ becomes M₂ᵀ" in panel.description
    True
    """

    title = "A network unrolled"
    setting = UnrollSetting
    _answer = staticmethod(study_unrolling)
    draw = staticmethod(unrolled_picture)
    _describe = staticmethod(describe)

    def _make_controls(self) -> tuple[Controls, Controls]:
        first, more = super()._make_controls()
        # This observer comes first: the shell then reads a place and an output that
        # exist.
        first["layers"].observe(self._on_layers, names="value")
        first["tokens"].observe(self._on_tokens, names="value")
        return first, more

    def _on_layers(self, change: dict) -> None:
        """A place at M_l, where the mirror is widest, becomes the new M_l's; so does
        one that is gone."""
        place = self.controls["place"].value
        if place == 3 ** (change["old"] - 1) or place > len(unroll(change["new"])):
            self._assign({"place": 3 ** (change["new"] - 1)})

    def _on_tokens(self, change: dict) -> None:
        self._assign({"output": min(self.controls["output"].value, change["new"])})

    def _assign(self, values: dict[str, object]) -> None:
        # Set the sizes first, because they may move the place. The sliders have their
        # full length meanwhile: a slider silently moves a value beyond its end onto its
        # end.
        self._set_ends(MAX_PLACE, MAX_TOKENS)
        super()._assign(
            {name: values[name] for name in self.controls if name in values}
        )

    def _restore(self, text: str) -> UnrollSetting:
        # the state may have more layers, and a place in them
        self._set_ends(MAX_PLACE, MAX_TOKENS)
        try:
            return super()._restore(text)
        finally:
            self._arrange()

    def _set_ends(self, place: int, output: int) -> None:
        self.controls["place"].max = place
        self.controls["output"].max = output

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        self._set_ends(len(unroll(value["layers"])), value["tokens"])
        for name in ("reflect", "index_seed"):
            self.controls[name].disabled = value["two_tokens"]

    def _badge(self, answer: UnrollStudy) -> str:
        if answer.two_tokens:
            return badge("proved", "Eq. 28", _of_two_tokens(answer))
        return badge("proved", "Lemma 3.6, Eq. 12", _of_the_sum(answer))


_IDENTITY = "no hypotheses: it holds for all L, M and X"


def _of_the_sum(study: UnrollStudy) -> Reasons:
    output = numbered("φ(X)", study.indices[-1] + 1)
    facts = [f"the term shown: {term_in_numbers(study)}", _IDENTITY]
    if study.summed is not None:
        facts.insert(
            1,
            f"all terms together: {number(study.summed)}; the layers give "
            f"{number(study.output)}",
        )
    return Reasons(
        f"{output} is a sum of {number_of_terms(study)} terms: {len(study.factors)} "
        f"places between factors, each with a choice of {study.tokens} tokens.",
        "Eq. 12",
        facts=tuple(facts),
        code=f"{study.tokens} ** len(nv.unroll({study.layers}))",
    )


def _of_two_tokens(study: UnrollStudy) -> Reasons:
    return Reasons(
        "Of all terms one is linear in x and has else only y: "
        f"{coefficient_name(study.layers)} = {number(study.coefficient)}.",
        "Eq. 28",
        facts=(f"the term shown: {term_in_numbers(study)}", _IDENTITY),
        code=f"nv.unroll({study.layers})",
    )
