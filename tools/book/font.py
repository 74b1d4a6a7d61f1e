"""The font of formulas: of STIX Two Math, what the pages of the site use."""

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from importlib.util import find_spec
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# the package ziamath brings it; the formulas are drawn by the browser
ZIAMATH = Path(find_spec("ziamath").origin).parent
WHOLE = "STIXTwoMath-Regular.ttf"
PART = "STIXTwoMath-part.woff2"
# a browser draws these where the page has no character: bars, roots, braces, brackets
_DRAWN = "√‾¯_⏞⏟︷︸()[]{}|‖⟨⟩⌈⌉⌊⌋/=+−·,.;:′ "
# forms for exponents, letters without their dots below an accent, flat accents
_FEATURES = ["ssty", "dtls", "flac"]
# copyright, family, style, version, name, trademark, licence
_NAMES = [0, 1, 2, 3, 4, 5, 6, 7, 13, 14]
# where Unicode has the slanted Latin letters, those without a dot, and the Greek ones
_SLANTED_AT = [(0x1D434, 0x1D468), (0x1D6A4, 0x1D6A6), (0x1D6E2, 0x1D71C)]


def _slanted() -> dict[str, str]:
    """Letter → its slanted one; h, the constant of Planck, stands elsewhere.

    >>> _slanted()["A"], _slanted()["ϵ"], _slanted()["h"]
    ('𝐴', '𝜖', 'ℎ')
    """
    found = {"h": "ℎ"}
    for first, end in _SLANTED_AT:
        for letter in map(chr, range(first, end)):
            if plain := unicodedata.decomposition(letter).removeprefix("<font> "):
                found[chr(int(plain, 16))] = letter
    return found


def characters(pages: Iterable[str]) -> set[str]:
    """The characters that the formulas of these pages show; a browser shows a variable
    of one letter by its slanted one.

    >>> page = "<p>of <math><mi>A</mi><mo>&lt;</mo><mi>dim</mi></math></p>"
    >>> sorted(characters([page]) - characters([]))
    ['<', 'A', 'd', 'i', 'm', '𝐴', '𝑑', '𝑖', '𝑚']
    """
    found = set(_DRAWN)
    for page in pages:
        for formula in re.findall(r"<math\b.*?</math>", page, re.DOTALL):
            found.update(unescape(re.sub("<[^>]*>", "", formula)))
    slanted = _slanted()
    found |= {slanted[one] for one in found if one in slanted}
    return {one for one in found if one.isprintable()}


def write(target: Path, shown: Iterable[str]) -> None:
    """Write the part of the font that shows these characters, in every size that they
    have, as woff2."""
    font = TTFont(ZIAMATH / "fonts" / WHOLE)
    options = subset.Options(
        layout_features=_FEATURES,
        name_IDs=_NAMES,
        hinting=False,
        drop_tables=["DSIG"],  # a signature of the whole font
        notdef_outline=True,
    )
    chosen = subset.Subsetter(options)
    chosen.populate(text="".join(sorted(shown)))
    chosen.subset(font)
    font.flavor = "woff2"
    font.recalcTimestamp = False  # the same site, the same file
    font.save(target)
