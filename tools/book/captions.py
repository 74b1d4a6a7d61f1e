"""A part of Sphinx: the captions of lists of pages, which are headings, say of which
level."""

from sphinx.application import Sphinx

_CAPTION = 'class="caption" role="heading"'
# Furo writes its tree at the same event, with the usual priority of 500.
_AFTER_FURO = 900


def with_level(html: str) -> str:
    """Who hears the page hears headings of level 2, as those in the text.

    >>> with_level('<p class="caption" role="heading">Texts</p>')
    '<p class="caption" role="heading" aria-level="2">Texts</p>'
    """
    return html.replace(f"{_CAPTION}>", f'{_CAPTION} aria-level="2">')


def _say_levels(
    _app: Sphinx, _page: str, _template: str, context: dict, _tree: object
) -> None:
    for part in ("body", "furo_navigation_tree"):
        if part in context:
            context[part] = with_level(context[part])


def setup(app: Sphinx) -> dict:
    """Called by Sphinx."""
    app.connect("html-page-context", _say_levels, priority=_AFTER_FURO)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
