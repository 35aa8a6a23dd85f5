"""Numba's compiler without its last step, for parts: machine code, which they have in their kernels alone.

This reaches into numba, whose steps may be others one day: `compiled` does without it where it fails.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Library(JITCodeLibrary):
    """Code of a part: what its kernels take in."""

    def _optimize_final_module(self) -> None:
        """Leave it to the kernels, which optimize what they took in once more anyway."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code of that name."""
        del name
        return 0

    @property
    def codegen(self) -> _Library:
        """Who is told where the globals of the function are."""
        return self

    def set_env(self, *_: object) -> None:
        """Have no globals."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """From types to LLVM's code, in a library of ours."""

    _name = "lowering_of_parts"

    def run_pass(self, state: Any) -> bool:
        """Take the step."""
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class OfParts(Compiler):
    """Numba's steps, with ours in the place of one."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        made = super().define_pipelines()
        for steps in made:
            steps.passes = [(_Lowering if one is NativeLowering else one, name) for one, name in steps.passes]
            steps._finalized = False
            steps.finalize()
        return list(made)
