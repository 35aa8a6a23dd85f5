#!/usr/bin/env bash
# Packages: jax 0.10.2 and jaxlib 0.10.2 (XLA, which compiles for the CPU here), absl-py 2.4.0, numpy 2.4.6,
#   scipy 1.17.1, ml_dtypes 0.7.0.
# Expected: cost_analysis()["flops"] of a compiled program is what it executes. Eight products in a lax.scan are as many
#   as eight written one after the other. How often the loop runs is a constant, and XLA has found it: the compiled
#   text says known_trip_count 100.
# Instead: the body of a loop counts once, whatever the trip count. unroll=10 of lax.scan, which changes no result,
#   gives ten times the FLOPs. With unroll=7 the two products that are left over come on top. lax.map over 16 heads has
#   a sixteenth of what jax.vmap has for them. JAX's own roofline does the same. And a running sum of n numbers, n - 1
#   additions, has n * (n - 1) FLOPs before compilation and 17 n after it.
# Seen (products of 256 x 256 matrices, FLOPs in products):
#   written 8 times                    8
#   lax.scan of 8, of 100              1, 1     (known_trip_count 8, 100)
#   lax.scan of 100, unroll=4, 7, 10   4, 9, 10 (known_trip_count 25, 14, 10)
#   unroll=True                        100      (no loop)
#   gradient of lax.scan of 8          3.0; of 8 written ones 23
#   roofline of lax.scan of 8          1
#   jnp.cumsum of 4096                 16773120 FLOPs before, 69887 after compilation
# Why it matters: the layers of a model are a lax.scan, so that its "model FLOPs" by this number are those of one layer.
#   Divided by a measured time, a GPU at half of its peak shows below one percent with 64 layers. Unrolling
#   the loop raises the rate by that factor, at the same time on the clock. Multiply by known_trip_count.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 absl-py==2.4.0 \
    numpy==2.4.6 scipy==1.17.1 ml_dtypes==0.7.0
cat > "$dir/see.py" <<'PY'
import re

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.roofline import roofline

SIZE = 256
PRODUCT = 2 * SIZE**3
x = jnp.ones((SIZE, SIZE))


def compiled(function, *arguments):
    return jax.jit(function).lower(*arguments).compile()


def flops(program):
    costs = program.cost_analysis()
    return costs["flops"]


def looped(times, **options):
    return lambda x: lax.scan(lambda y, _: (y @ x, None), x, None, length=times, **options)[0]


def written(times):
    def all_of_them(x):
        y = x
        for _ in range(times):
            y = y @ x
        return y

    return all_of_them


def counted(function):
    """FLOPs in products, and how often the compiler knows that the loop runs."""
    program = compiled(function, x)
    trips = [int(one) for one in re.findall(r'known_trip_count":\{"n":"(\d+)"', program.as_text())]
    return round(flops(program) / PRODUCT, 1), trips


SEEN = {
    "written 8 times": (written(8), (8.0, [])),
    "scan of 8": (looped(8), (1.0, [8])),
    "scan of 100": (looped(100), (1.0, [100])),
    "scan of 100, unroll=4": (looped(100, unroll=4), (4.0, [25])),
    "scan of 100, unroll=7": (looped(100, unroll=7), (9.0, [14])),
    "scan of 100, unroll=10": (looped(100, unroll=10), (10.0, [10])),
    "scan of 100, unroll=True": (looped(100, unroll=True), (100.0, [])),
}
for name, (function, expected) in SEEN.items():
    found = counted(function)
    print(f"{name:25} {found[0]:5} products, known_trip_count {found[1]}")
    assert found == expected, expected

gradients = [
    round(flops(compiled(jax.grad(lambda x, function=function: function(x).sum()), x)) / PRODUCT, 1)
    for function in (looped(8), written(8))
]
print(f"gradients: {gradients[0]} of the loop, {gradients[1]} written")
_, estimate = roofline(looped(8))(x)
print(f"roofline of scan of 8: {estimate.flops / PRODUCT}")
assert estimate.flops == PRODUCT


def head(a):
    return jax.nn.softmax(a @ a.T) @ a


heads = jnp.ones((16, 128, 64))
one_by_one = flops(compiled(lambda all_heads: lax.map(head, all_heads), heads))
at_once = flops(compiled(jax.vmap(head), heads))
print(f"16 heads: vmap / map {at_once / one_by_one:.1f}")
assert round(at_once / one_by_one, 1) == 16.0

running = jax.jit(jnp.cumsum).lower(jnp.ones(4096))
sums = flops(running), flops(running.compile())
print(f"cumsum of 4096: {sums[0]:.0f} before, {sums[1]:.0f} after")
assert sums == (4096 * 4095, 69887), sums
assert gradients == [3.0, 23.0], gradients
print("as described")
PY
JAX_PLATFORMS=cpu "$dir/venv/bin/python" "$dir/see.py"
