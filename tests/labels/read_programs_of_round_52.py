"""CLIP: image and text tower, contrastive loss over the global batch, AdamW; mesh data 4 x model 2."""

import os, sys

sys.path.insert(0, os.environ["PROGRAMS"])  # tests/data/programs
REMAT = os.environ.get("REMAT", "1") == "1"
import optax
from tagged_unseen import *


def clip():
    over = mesh(data=4, model=2)
    D, H, F, L, E = 512, 8, 2048, 4, 256
    B, TI, TT, V, PP = 256, 64, 32, 8192, 768
    bf = jnp.bfloat16

    def tower():
        return dict(
            qkv=arr(over, (L, D, 3, H, D // H), None, None, None, "model"),
            out=arr(over, (L, H, D // H, D), None, "model"),
            up=arr(over, (L, D, F), None, None, "model"),
            down=arr(over, (L, F, D), None, "model"),
            ln1=arr(over, (L, D)),
            ln2=arr(over, (L, D)),
        )

    params = dict(
        image=dict(
            patch=arr(over, (PP, D)), pos=arr(over, (TI, D)), layers=tower(), proj=arr(over, (D, E))
        ),
        text=dict(
            embed=arr(over, (V, D), "model"),
            pos=arr(over, (TT, D)),
            layers=tower(),
            proj=arr(over, (D, E)),
        ),
        temperature=arr(over, ()),
    )

    def ln(x, g):
        x = x.astype(jnp.float32)
        m = x.mean(-1, keepdims=True)
        v = jnp.square(x - m).mean(-1, keepdims=True)
        return ((x - m) * lax.rsqrt(v + 1e-5) * g).astype(bf)

    def block(x, p, causal):
        with jax.named_scope("attention"):
            q, k, v = jnp.moveaxis(
                jnp.einsum("btd,dchk->btchk", ln(x, p["ln1"]), p["qkv"].astype(bf)), 2, 0
            )
            s = jnp.einsum("bthk,bshk->bhts", q, k).astype(jnp.float32) / np.sqrt(D // H)
            if causal:
                s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
            x = x + jnp.einsum(
                "bhts,bshk,hkd->btd", jax.nn.softmax(s).astype(bf), v, p["out"].astype(bf)
            )
        with jax.named_scope("mlp"):
            x = x + jax.nn.gelu(ln(x, p["ln2"]) @ p["up"].astype(bf)) @ p["down"].astype(bf)
        return x

    def run(x, layers, causal):
        f = partial(block, causal=causal)
        if REMAT:
            f = jax.checkpoint(f)
        return lax.scan(lambda x, p: (f(x, p), None), x, layers)[0]

    def image_tower(p, im):
        x = im.astype(bf) @ p["patch"].astype(bf) + p["pos"].astype(bf)
        return run(x, p["layers"], False).mean(1).astype(jnp.float32) @ p["proj"]

    def text_tower(p, tok):
        x = (p["embed"][tok] + p["pos"]).astype(bf)
        return run(x, p["layers"], True)[:, -1].astype(jnp.float32) @ p["proj"]

    def loss(p, im, tok):
        with jax.named_scope("image"):
            a = image_tower(p["image"], im)
        with jax.named_scope("text"):
            b = text_tower(p["text"], tok)
        with jax.named_scope("contrastive"):
            a, b = [z / jnp.linalg.norm(z, axis=-1, keepdims=True) for z in (a, b)]
            logits = jnp.exp(p["temperature"]) * a @ b.T
            eye = jnp.arange(B)
            return 0.5 * (
                optax.softmax_cross_entropy_with_integer_labels(logits, eye).mean()
                + optax.softmax_cross_entropy_with_integer_labels(logits.T, eye).mean()
            )

    opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    shapes = jax.eval_shape(opt.init, params)
    by = {}
    flat, _ = jax.tree_util.tree_flatten_with_path(params)
    for path, v in flat:
        by[tuple(str(k) for k in path)] = v.sharding

    def shard(path, v):
        ks = tuple(str(k) for k in path)
        for n in range(len(ks)):
            if ks[n:] in by and by[ks[n:]]:
                return jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=by[ks[n:]])
        return jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=NamedSharding(over, P()))

    state = jax.tree_util.tree_map_with_path(shard, shapes)

    def clip_train_step(p, s, im, tok):
        l, g = jax.value_and_grad(loss)(p, im, tok)
        u, s = opt.update(g, s, p)
        return optax.apply_updates(p, u), s, l

    return (
        clip_train_step,
        params,
        state,
        arr(over, (B, TI, PP), "data"),
        arr(over, (B, TT), "data", dtype="int32"),
    )


fun, *args = clip()
c = jax.jit(fun, donate_argnums=(0, 1)).lower(*args).compile()
print("ok", c.memory_analysis())
