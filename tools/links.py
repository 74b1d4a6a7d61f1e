"""Write the repository's address into README.md, docs/install.md, CITATION.cff and the
packages' pages.

pyproject.toml, `[project.urls]`, is the one place that knows it: change it there, then
`make links`.
"""

import re
import tomllib
from argparse import ArgumentParser
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = "notebooks/00_start.ipynb"


def repository() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project["urls"]["Repository"].rstrip("/")


def _parts(url: str) -> tuple[str, str, str]:
    """Host, owner and name of a repository."""
    found = re.fullmatch(
        r"https://(github|gitlab)\.com/([^/]+)/([^/]+?)(?:\.git)?", url
    )
    if not found:
        raise ValueError(
            "Binder, like the site, needs an address of the form"
            " https://github.com/OWNER/REPOSITORY (or gitlab.com); [project.urls] in"
            f" pyproject.toml says {url!r}"
        )
    return found.groups()


def binder(url: str) -> str:
    """The address at which Binder builds the repository and opens the first
    notebook."""
    host, owner, name = _parts(url)
    place = f"gh/{owner}/{name}" if host == "github" else f"gl/{owner}%2F{name}"
    return f"https://mybinder.org/v2/{place}/HEAD?urlpath=lab/tree/{START}"


def pages(url: str) -> str:
    """The address at which .github/workflows/book.yml publishes the site.

    >>> pages("https://github.com/geometers/attention.git")
    'https://geometers.github.io/attention/'
    """
    host, owner, name = _parts(url)
    return f"https://{owner}.{host}.io/{name}/"


def blocks(url: str) -> dict[str, str]:
    """The generated parts of pages, by the name that stands in their comments."""
    folder = url.removesuffix(".git").rsplit("/", 1)[1]
    return {
        "badge": (
            f"**[Open it in the browser]({pages(url)})**; or, on a computer"
            " elsewhere:\n[![Open in"
            f" Binder](https://mybinder.org/badge_logo.svg)]({binder(url)})"
        ),
        "clone": f"```bash\ngit clone {url}\ncd {folder}\n```",
        "install": (
            f'```bash\npip install "neuroviz[notebooks] @ git+{url}" \\\n'
            f'  "neuroviz-beyond @ git+{url}#subdirectory=beyond"\nneuroviz lab\n```'
        ),
        "uvx": (
            f'```bash\nuvx --from "neuroviz[notebooks] @ git+{url}" \\\n'
            f'  --with "neuroviz-beyond @ git+{url}#subdirectory=beyond" \\\n'
            "  neuroviz lab\n```"
        ),
    }


def page(text: str, url: str, names: tuple[str, ...]) -> str:
    """A page with its generated parts."""
    contents = blocks(url)
    for name in names:
        content = contents[name]
        pattern = (
            rf"(<!-- {name}: written by `make links` -->\n).*?(<!-- end of {name} -->)"
        )
        text, times = re.subn(
            pattern,
            lambda m, new=content: f"{m[1]}{new}\n{m[2]}",
            text,
            flags=re.DOTALL,
        )
        if times != 1:
            raise ValueError(
                f"there should be one place for {name}, between two comments; found"
                f" {times}"
            )
    return text


def line(text: str, url: str, key: str) -> str:
    """A text with the address in its one line `key: "…"`."""
    text, times = re.subn(rf'(?m)^( *{key}): ".*"$', rf'\1: "{url}"', text)
    if times != 1:
        raise ValueError(f'one line should be `{key}: "…"`; found {times}')
    return text


def whole_links(text: str, url: str) -> str:
    """A pyproject.toml with the address in each link that it makes whole for the
    package's page.

    >>> print(whole_links("[a](https://old/one/raw/HEAD/a.png)", "https://host/one.git"))
    [a](https://host/one/raw/HEAD/a.png)
    """
    text, times = re.subn(
        r"https://[^\s'()]+/(raw|blob)/HEAD/",
        lambda m: f"{url.removesuffix('.git')}/{m[1]}/HEAD/",
        text,
    )
    if not times:
        raise ValueError("pyproject.toml should make links whole; found none")
    return text


PLACES = {
    "README.md": partial(page, names=("badge", "clone", "install")),
    "docs/install.md": partial(page, names=("uvx",)),
    "CITATION.cff": partial(line, key="repository-code"),
    "pyproject.toml": whole_links,
    "beyond/pyproject.toml": whole_links,
}


def main() -> None:
    # takes nothing; --help writes nothing
    ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    for name, rewrite in PLACES.items():
        path = ROOT / name
        text = rewrite(path.read_text(encoding="utf-8"), repository())
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
