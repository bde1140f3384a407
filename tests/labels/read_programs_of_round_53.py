"""A gated state space language model (associative scan), FSDP 4 x tensor 2, momentum SGD, v6e-8."""

import os, sys

sys.path.insert(0, os.environ["PROGRAMS"])  # tests/data/programs
from tagged_unseen import *


def ssm():
    over = mesh(fsdp=4, tensor=2)
    D, N, L, V, B, T = 1024, 2048, 2, 16384, 16, 1024
    bf = jnp.bfloat16
    layer = dict(
        inp=arr(over, (D, 2, N), "fsdp", None, "tensor"),
        decay=arr(over, (D, N), "fsdp", "tensor"),
        conv=arr(over, (4, N), None, "tensor"),
        out=arr(over, (N, D), "tensor", "fsdp"),
        norm=arr(over, (D,)),
    )
    params = dict(
        embed=arr(over, (V, D), "tensor", "fsdp"), layers=[layer] * L, norm=arr(over, (D,))
    )

    def mix(x, p):
        h = rms(x, p["norm"].astype(bf))
        u, gate = jnp.moveaxis(jnp.einsum("btd,dcn->btcn", h, p["inp"].astype(bf)), 2, 0)
        pad = jnp.pad(u, ((0, 0), (3, 0), (0, 0)))
        u = jax.nn.silu(sum(pad[:, i : i + T] * p["conv"][i].astype(bf) for i in range(4)))
        a = jax.nn.sigmoid((h @ p["decay"].astype(bf)).astype(jnp.float32))

        def comb(l, r):
            return l[0] * r[0], r[0] * l[1] + r[1]

        with jax.named_scope("scan"):
            _, s = lax.associative_scan(comb, (a, (1 - a) * u.astype(jnp.float32)), axis=1)
        return x + (s.astype(bf) * jax.nn.silu(gate)) @ p["out"].astype(bf)

    def loss(p, tok):
        x = p["embed"].astype(bf)[tok]
        x = lax.with_sharding_constraint(x, NamedSharding(over, P("fsdp")))
        for i, l in enumerate(p["layers"]):
            with jax.named_scope(f"layer{i}"):
                x = jax.checkpoint(mix)(x, l)
        lg = jnp.einsum("btd,vd->btv", rms(x, p["norm"].astype(bf)), p["embed"].astype(bf)).astype(
            jnp.float32
        )
        with jax.named_scope("xent"):
            return -jnp.mean(
                jnp.take_along_axis(jax.nn.log_softmax(lg)[:, :-1], tok[:, 1:, None], -1)
            )

    def ssm_train_step(p, m, tok):
        l, g = jax.value_and_grad(loss)(p, tok)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        return jax.tree.map(lambda p, m: p - 1e-2 * m, p, m), m, l

    return ssm_train_step, params, params, arr(over, (B, T), "fsdp", dtype="int32")


fun, *args = ssm()
# the momentum is not donated: a real mistake
c = jax.jit(fun, donate_argnums=(0,)).lower(*args).compile()
print("ok", c.memory_analysis())
