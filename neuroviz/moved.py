"""Old addresses of what notebooks import: `from neuroviz.surface import SLICES` goes on
working."""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "neuroviz.block": "neuroviz.engine.block",
    "neuroviz.engine.block_network": "neuroviz.engine.network",
    "neuroviz.exercise": "neuroviz.lessons.exercise",
    "neuroviz.explorables.presets": "neuroviz.kit.presets",
    "neuroviz.field": "neuroviz.engine.field",
    "neuroviz.flow": "neuroviz.beyond.training.flow",
    "neuroviz.forms": "neuroviz.singular.forms",
    "neuroviz.network": "neuroviz.engine.network",
    "neuroviz.questions": "neuroviz.lessons.questions",
    "neuroviz.surface": "neuroviz.singular.surface",
    "neuroviz.symmetry": "neuroviz.engine.symmetry",
    "neuroviz.teaching": "neuroviz.lessons.teaching",
    "neuroviz.theme": "neuroviz.kit.theme",
    "neuroviz.unrolling": "neuroviz.engine.unrolling",
    "neuroviz.wrong_answers": "neuroviz.lessons.wrong_answers",
}


class _OldAddresses(MetaPathFinder, Loader):
    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = lambda name: getattr(
            import_module(MOVED[module.__name__]), name
        )


def keep_old_addresses() -> None:
    """Let imports find what has moved; a module at an old address hands on every name
    of the new one."""
    sys.meta_path.append(_OldAddresses())
