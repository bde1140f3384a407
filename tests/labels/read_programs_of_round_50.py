"""Llama-like decoder, FSDP x tensor parallel on 2x4 H100, untied head, GQA, rotary, SwiGLU, AdamW with global clip, z-loss."""

import os
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

H100 = open(os.environ["TARGET"]).read()
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x1x8")
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("fsdp", "tp"))
DOWN = ("fsdp", "tp") if os.environ.get("SWAP") else ("tp", "fsdp")


def S(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def c(x, *s):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


L, D, H, KV, K, F, V, B, T = 4, 2048, 16, 4, 128, 5632, 32000, 8, 1024
bf = jnp.bfloat16
params = {
    "tok_embed": S((V, D), "tp", "fsdp"),
    "lm_head": S((D, V), "fsdp", "tp"),
    "final_norm": S((D,)),
    "blocks": {
        "wq": S((L, D, H, K), None, "fsdp", "tp"),
        "wkv": S((L, 2, D, KV, K), None, None, "fsdp", "tp"),
        "wo": S((L, H, K, D), None, "tp", None, "fsdp"),
        "w_gate": S((L, D, F), None, "fsdp", "tp"),
        "w_up": S((L, D, F), None, "fsdp", "tp"),
        "w_down": S((L, F, D), None, *DOWN),
        "attn_norm": S((L, D)),
        "mlp_norm": S((L, D)),
    },
}


def rms(x, g):
    y = x.astype(jnp.float32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * g).astype(bf)


def rope(x):
    t = jnp.arange(T)[:, None] * 10000.0 ** (-jnp.arange(0, K, 2) / K)
    co, si = jnp.cos(t)[:, None], jnp.sin(t)[:, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * co - b * si, a * si + b * co], -1).astype(bf)


def block(x, w):
    with jax.named_scope("attention"):
        n = rms(x, w["attn_norm"])
        q = rope(jnp.einsum("btd,dhk->bthk", n, w["wq"].astype(bf))).reshape(B, T, KV, H // KV, K)
        k, v = jnp.einsum("btd,cdgk->cbtgk", n, w["wkv"].astype(bf))
        k = rope(k)
        s = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(jnp.float32) * K**-0.5
        s = jnp.where(jnp.tril(jnp.ones((T, T), bool)), s, -1e30)
        o = jnp.einsum("bgrts,bsgk->btgrk", jax.nn.softmax(s, -1).astype(bf), v).reshape(B, T, H, K)
        x = c(x + jnp.einsum("bthk,hkd->btd", o, w["wo"].astype(bf)), "fsdp")
    with jax.named_scope("mlp"):
        n = rms(x, w["mlp_norm"])
        h = jax.nn.silu(n @ w["w_gate"].astype(bf)) * (n @ w["w_up"].astype(bf))
        x = c(x + h @ w["w_down"].astype(bf), "fsdp")
    return x, None


def train_step(params, opt, tokens):
    def loss_fn(p):
        with jax.named_scope("embed"):
            x = c(p["tok_embed"].astype(bf)[tokens], "fsdp")
        x, _ = lax.scan(
            jax.checkpoint(block, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable),
            x,
            p["blocks"],
        )
        with jax.named_scope("lm_loss"):
            lg = c((rms(x, p["final_norm"]) @ p["lm_head"].astype(bf)), "fsdp", None, "tp").astype(
                jnp.float32
            )[:, :-1]
            z = jax.nn.logsumexp(lg, -1)
            tgt = jnp.take_along_axis(lg, tokens[:, 1:, None], -1)[..., 0]
            return jnp.mean(z - tgt) + 1e-4 * jnp.mean(z * z)

    l, g = jax.value_and_grad(loss_fn)(params)
    with jax.named_scope("adamw"):
        gn = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
        g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 1.0 / (gn + 1e-6)), g)
        n = opt["count"] + 1
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, opt["mu"], g)
        nu = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, opt["nu"], g)
        params = jax.tree.map(
            lambda p, m, v: (
                p - 3e-4 * (m / (1 - 0.9**n) / (jnp.sqrt(v / (1 - 0.95**n)) + 1e-8) + 0.1 * p)
            ),
            params,
            mu,
            nu,
        )
    return params, {"mu": mu, "nu": nu, "count": n}, {"loss": l, "grad_norm": gn}


opt = {"mu": params, "nu": params, "count": S((), dtype=jnp.int32)}
out = jax.tree.map(lambda s: s.sharding, params)
R = NamedSharding(mesh, P())
comp = (
    jax.jit(
        train_step,
        donate_argnums=(0,),
        out_shardings=(out, {"mu": out, "nu": out, "count": R}, {"loss": R, "grad_norm": R}),
    )
    .lower(params, opt, S((B, T), "fsdp", dtype=jnp.int32))
    .compile()
)
print(comp.memory_analysis())
