"""Numba's compiler without its last step (machine code), for parts, which are compiled into their kernels.

This uses numba's internals, which may change: `compiled` works without it if it fails.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Library(JITCodeLibrary):
    """LLVM code of a part, which its kernels link."""

    def _optimize_final_module(self) -> None:
        """Skip this: kernels optimize linked code again anyway."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code of that name."""
        del name
        return 0

    @property
    def codegen(self) -> _Library:
        """Receives the addresses of the function's globals."""
        return self

    def set_env(self, *_: object) -> None:
        """Have no globals."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Lower types to LLVM code, in our library."""

    _name = "lowering_of_parts"

    def run_pass(self, state: Any) -> bool:
        """Run the lowering step."""
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class OfParts(Compiler):
    """Numba's steps, one of them replaced by ours."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        made = super().define_pipelines()
        for steps in made:
            steps.passes = [(_Lowering if one is NativeLowering else one, name) for one, name in steps.passes]
            steps._finalized = False
            steps.finalize()
        return list(made)
