"""LoRA fine-tuning step over a frozen bf16 decoder; scan over layers, remat, FSDP(2) x tensor(4), H100 2x4.
usage: gpu_lora.py [full|dots]"""

import os, sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: 84929347584
  shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 7 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""
policy = sys.argv[1] if len(sys.argv) > 1 else "full"
topo = topologies.get_topology_desc(platform="cuda", target_config=H100, topology="1x2x4")
print([str(d) for d in topo.devices], topo.devices[0].device_kind)
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("fsdp", "tensor"))
bf, f32 = jnp.bfloat16, jnp.float32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


L, D, H, KV, hd, F, V, B, T, R = 32, 4096, 32, 8, 128, 14336, 128256, 16, 4096, 16
base = dict(
    embed=S((V, D), bf, "tensor", "fsdp"),
    final_norm=S((D,), bf),
    layers=dict(
        attn_norm=S((L, D), bf),
        mlp_norm=S((L, D), bf),
        q_proj=S((L, D, H, hd), bf, None, "fsdp", "tensor"),
        k_proj=S((L, D, KV, hd), bf, None, "fsdp", "tensor"),
        v_proj=S((L, D, KV, hd), bf, None, "fsdp", "tensor"),
        o_proj=S((L, H, hd, D), bf, None, "tensor", None, "fsdp"),
        gate_proj=S((L, D, F), bf, None, "fsdp", "tensor"),
        up_proj=S((L, D, F), bf, None, "fsdp", "tensor"),
        down_proj=S((L, F, D), bf, None, "tensor", "fsdp"),
    ),
)


def ad():
    return dict(
        q_a=S((L, D, R), f32, None, "fsdp"),
        q_b=S((L, R, H, hd), f32, None, None, "tensor"),
        v_a=S((L, D, R), f32, None, "fsdp"),
        v_b=S((L, R, KV, hd), f32, None, None, "tensor"),
        o_a=S((L, H, hd, R), f32, None, "tensor"),
        o_b=S((L, R, D), f32, None, None, "fsdp"),
    )


lora, mu, nu = ad(), ad(), ad()
step, tokens = S((), jnp.int32), S((B, T), jnp.int32, "fsdp")
con = lambda x, *s: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-5)).astype(bf) * g


def rope(x):
    pos = jnp.arange(T, dtype=f32)[:, None] * 10000.0 ** (
        -jnp.arange(hd // 2, dtype=f32) / (hd // 2)
    )
    c, s = jnp.cos(pos)[:, None].astype(bf), jnp.sin(pos)[:, None].astype(bf)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def block(x, lw):
    w, a = lw
    a = jax.tree.map(lambda t: t.astype(bf), a)
    with jax.named_scope("attention"):
        h = rms(x, w["attn_norm"])
        with jax.named_scope("lora_q"):
            dq = jnp.einsum("btr,rhk->bthk", h @ a["q_a"], a["q_b"]) * 2.0
        with jax.named_scope("lora_v"):
            dv = jnp.einsum("btr,rhk->bthk", h @ a["v_a"], a["v_b"]) * 2.0
        q = rope(jnp.einsum("btd,dhk->bthk", h, w["q_proj"]) + dq)
        k = rope(jnp.einsum("btd,dhk->bthk", h, w["k_proj"]))
        v = jnp.einsum("btd,dhk->bthk", h, w["v_proj"]) + dv
        k, v = (jnp.repeat(t, H // KV, 2) for t in (k, v))
        s = jnp.einsum("bthk,bshk->bhts", q, k).astype(f32) * hd**-0.5
        s = jnp.where(jnp.tril(jnp.ones((T, T), bool)), s, -1e9)
        o = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s).astype(bf), v)
        with jax.named_scope("lora_o"):
            do = jnp.einsum("bthk,hkr->btr", o, a["o_a"]) @ a["o_b"] * 2.0
        x = con(x + jnp.einsum("bthk,hkd->btd", o, w["o_proj"]) + do, "fsdp")
    with jax.named_scope("mlp"):
        h = rms(x, w["mlp_norm"])
        x = con(x + (jax.nn.silu(h @ w["gate_proj"]) * (h @ w["up_proj"])) @ w["down_proj"], "fsdp")
    return x, None


pol = {"full": None, "dots": jax.checkpoint_policies.dots_with_no_batch_dims_saveable}[policy]


def lora_finetune_step(base, lora, mu, nu, step, tokens):
    def loss_fn(lora):
        x = con(base["embed"][tokens], "fsdp")
        x, _ = jax.lax.scan(jax.checkpoint(block, policy=pol), x, (base["layers"], lora))
        lg = (rms(x, base["final_norm"]) @ base["embed"].T).astype(f32)[:, :-1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(lg), tokens[:, 1:, None], -1))

    loss, g = jax.value_and_grad(loss_fn)(lora)
    gn = jnp.sqrt(sum(jnp.sum(t * t) for t in jax.tree.leaves(g)))
    g = jax.tree.map(lambda t: t * jnp.minimum(1.0, 1.0 / gn), g)
    t = step + 1
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, g)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, nu, g)
    lora = jax.tree.map(
        lambda p, m, v: p - 1e-4 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8),
        lora,
        mu,
        nu,
    )
    return lora, mu, nu, t, loss, gn


c = (
    jax.jit(lora_finetune_step, donate_argnums=(1, 2, 3))
    .lower(base, lora, mu, nu, step, tokens)
    .compile()
)
print("compiled", c.memory_analysis())
