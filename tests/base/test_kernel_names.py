"""Names of kernels as tables show them."""

import pytest

from rcv_py.base.text import short_kernel


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("quick.kd", "quick"),
        ("_ZN1a1bIiEEvPKi.kd", "a::b"),
        ("void a::b<int, c<4> >(int*)", "a::b"),
        ("void a::(anonymous namespace)::grid<float, 4>(long)", "a::grid"),
        ("(anonymous)::k", "(anonymous)::k"),
        ("", ""),
    ],
)
def test_a_short_name_is_without_arguments_and_places_without_a_name(name: str, short: str) -> None:
    assert short_kernel(name) == short
