"""The paper's networks as torch modules."""

try:
    import torch as torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        "this needs torch: pip install 'neuroviz[torch]' (on a computer; a browser has"
        " none)",
        name="torch",
    ) from None
