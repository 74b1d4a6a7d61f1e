"""torch modules: attention networks, and the functional dimension and symmetries of any module."""

try:
    import torch as torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        "this needs torch, which neuroviz does not bring along: pip install 'neuroviz[torch]'", name="torch"
    ) from None
