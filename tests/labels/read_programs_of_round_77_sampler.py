"""A text-to-image sampler: a text tower, cached cross attention, a guided multistep solver, then a decoder to pixels.

Ahead of time for v5p 2x2x2: mesh data 4 x model 2; a loop over noise levels with both halves of the guidance in one
batch, a U-net of residual blocks and attention, thresholds by sorting, every other attention by lax.cond.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(
    platform="tpu", topology_name="v5p:2x2x2", chip_config_name="megacore"
)
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, R, Z, T, V, W, N, STEPS = 16, 64, 4, 77, 32768, 768, 4, 20
C = (128, 256, 512)
H, hd = 8, 64


def res(a, b):
    return dict(
        norm1=S((a,), bf),
        conv1=S((3, 3, a, b), bf, None, None, None, "model"),
        time=S((512, b), bf, None, "model"),
        norm2=S((b,), bf),
        conv2=S((3, 3, b, b), bf, None, None, "model"),
        skip=S((a, b), bf, None, "model"),
    )


def att(c):
    return dict(
        norm=S((3, c), bf),
        qkv=S((c, 3, H, hd), bf, None, None, "model"),
        out=S((H, hd, c), bf, "model"),
        q=S((c, H, hd), bf, None, "model"),
        kv=S((W, 2, H, hd), bf, None, None, "model"),
        outx=S((H, hd, c), bf, "model"),
        gate=S((c, 2, 4 * c), bf, None, None, "model"),
        down=S((4 * c, c), bf, "model"),
    )


text = dict(
    norm=S((N, 2, W), bf),
    qkv=S((N, W, 3, 12, 64), bf, None, None, None, "model"),
    out=S((N, 12, 64, W), bf, None, "model"),
    up=S((N, W, 4 * W), jnp.int8, None, None, "model"),
    up_scale=S((N, 4 * W), f32, None, "model"),
    down=S((N, 4 * W, W), jnp.int8, None, "model"),
    down_scale=S((N, W), f32),
)
params = dict(
    words=S((V, W), bf, "model"),
    places=S((T, W), bf),
    text=text,
    time=S((256, 512), bf, None, "model"),
    first=S((3, 3, Z, C[0]), bf),
    down=[res(C[0], C[0]), res(C[0], C[1]), res(C[1], C[2])],
    attend=[att(C[1]), att(C[2])],
    middle=[res(C[2], C[2]), att(C[2])],
    up=[res(2 * C[2], C[1]), res(2 * C[1], C[0]), res(2 * C[0], C[0])],
    last=S((3, 3, C[0], Z), bf),
    decode=[
        S((3, 3, Z, 128), bf),
        S((3, 3, 128, 64), bf, None, None, None, "model"),
        S((3, 3, 64, 32), bf, None, None, "model"),
        S((3, 3, 32, 3), bf),
    ],
)
tokens, lengths = S((2, B, T), i32, None, "data"), S((2, B), i32, None, "data")
scale = S((B,), f32, "data")
key = S((2,), jnp.uint32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def rms(x, g):
    x32 = x.astype(f32)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6)).astype(bf) * g


def group(x, g):
    b, h, w, c = x.shape
    x32 = x.astype(f32).reshape(b, h, w, 32, c // 32)
    mean = jnp.mean(x32, (1, 2, 4), keepdims=True)
    spread = jnp.mean((x32 - mean) ** 2, (1, 2, 4), keepdims=True)
    return ((x32 - mean) * lax.rsqrt(spread + 1e-5)).reshape(x.shape).astype(bf) * g


def conv(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def attend(q, k, v, keep=None):
    s = jnp.einsum("bnhk,bmhk->bhnm", q, k).astype(f32) * hd**-0.5
    s = s if keep is None else jnp.where(keep[:, None, None], s, -1e9)
    return jnp.einsum("bhnm,bmhk->bnhk", jax.nn.softmax(s, -1).astype(bf), v)


def encode(p, tokens, lengths):
    x = p["words"][tokens] + p["places"]
    keep = jnp.arange(T)[None] < lengths[:, None]

    def layer(x, w):
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", rms(x, w["norm"][0]), w["qkv"]), 2, 0)
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v, keep), w["out"])
        h = rms(x, w["norm"][1]) @ w["up"].astype(bf) * w["up_scale"].astype(bf)
        h = h * jax.nn.sigmoid(1.702 * h)
        return x + h @ w["down"].astype(bf) * w["down_scale"].astype(bf), None

    return lax.scan(layer, x, p["text"])[0], keep


def residual(x, t, w):
    h = conv(jax.nn.silu(group(x, w["norm1"])), w["conv1"])
    h = con(h + (t @ w["time"])[:, None, None], "data", None, None, "model")
    return x @ w["skip"] + conv(jax.nn.silu(group(h, w["norm2"])), w["conv2"])


def attention(x, w, cache, keep, count, alternate):
    b, h, wide, c = x.shape
    y = x.reshape(b, h * wide, c)

    def own(y):
        q, k, v = jnp.moveaxis(jnp.einsum("bnd,dchk->bnchk", rms(y, w["norm"][0]), w["qkv"]), 2, 0)
        return y + jnp.einsum("bnhk,hkd->bnd", attend(q, k, v), w["out"])

    y = lax.cond(count % 2 == 0, own, lambda y: y, y) if alternate else own(y)
    q = jnp.einsum("bnd,dhk->bnhk", rms(y, w["norm"][1]), w["q"])
    y = y + jnp.einsum("bnhk,hkd->bnd", attend(q, cache[0], cache[1], keep), w["outx"])
    a = jnp.einsum("bnd,dcf->bncf", rms(y, w["norm"][2]), w["gate"])
    y = y + (a[:, :, 0] * jax.nn.gelu(a[:, :, 1])) @ w["down"]
    return y.reshape(x.shape)


def unet(p, x, noise, caches, keep, count):
    angle = jnp.log(noise) * jnp.exp(np.linspace(0, 6, 128, dtype=np.float32))
    t = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)])[None].astype(bf)
    t = jax.nn.silu(t @ p["time"])
    with jax.named_scope("down"):
        x = conv(x, p["first"])
        a = residual(x, t, p["down"][0])
        b = residual(
            lax.reduce_window(a, bf(0), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") * bf(0.25),
            t,
            p["down"][1],
        )
        b = attention(b, p["attend"][0], caches[0], keep, count, True)
        c = residual(b[:, ::2, ::2], t, p["down"][2])
        c = attention(c, p["attend"][1], caches[1], keep, count, False)
    with jax.named_scope("middle"):
        d = residual(c, t, p["middle"][0])
        d = attention(d, p["middle"][1], caches[2], keep, count, False)
    bigger = lambda z: jnp.repeat(jnp.repeat(z, 2, 1), 2, 2)
    with jax.named_scope("up"):
        x = residual(jnp.concatenate([c, d], -1), t, p["up"][0])
        x = residual(jnp.concatenate([b, bigger(x)], -1), t, p["up"][1])
        x = residual(jnp.concatenate([a, bigger(x)], -1), t, p["up"][2])
    return conv(jax.nn.silu(x), p["last"]).astype(f32)


def sample(p, tokens, lengths, scale, key):
    with jax.named_scope("text"):
        words, keep = encode(p, tokens.reshape(2 * B, T), lengths.reshape(2 * B))
        words, keep = con(words, "data"), con(keep, "data")
    with jax.named_scope("cache"):
        layers = [*p["attend"], p["middle"][1]]
        caches = [jnp.moveaxis(jnp.einsum("btd,dchk->btchk", words, w["kv"]), 2, 0) for w in layers]
    rho = np.linspace(80 ** (1 / 7), 0.002 ** (1 / 7), STEPS)
    levels = jnp.asarray(np.append(rho**7, 0.0), f32)
    start, more = jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"))
    x = con(jax.random.normal(start, (B, R, R, Z), f32) * levels[0], "data")

    def denoised(x, noise, count):
        size = lax.rsqrt(noise**2 + 0.25)
        twice = con(jnp.concatenate([x, x]) * size, "data").astype(bf)
        out = unet(p, twice, noise, caches, keep, count)
        out = jnp.concatenate([x, x]) * 0.25 * size**2 + out * noise * 0.5 * size
        plain, told = out[:B], out[B:]
        guided = plain + scale[:, None, None, None] * (told - plain)
        flat = jnp.sort(jnp.abs(guided).reshape(B, -1), -1)
        bound = jnp.maximum(flat[:, int(0.995 * flat.shape[1])], 1.0)[:, None, None, None]
        return jnp.clip(guided, -bound, bound) / bound

    def body(state):
        x, old, count, key, change = state
        now, then = levels[count], levels[count + 1]
        y = denoised(x, now, count)
        ratio = jnp.log(levels[jnp.maximum(count - 1, 0)] / now) / jnp.log(
            now / jnp.maximum(then, 1e-4)
        )
        second = lambda: y + (y - old) / (2 * ratio)
        z = lax.cond((count > 0) & (then > 0), second, lambda: y)
        key, own = jax.random.split(key)
        noise = jax.random.normal(own, x.shape, f32) * jnp.where(then > 0, 0.1 * then, 0.0)
        new = then / now * x + (1 - then / now) * z + con(noise, "data")
        return new, y, count + 1, key, jnp.max(jnp.abs(y - old))

    going = lambda s: (s[2] < STEPS) & ((s[4] > 1e-3) | (s[2] < 4))
    x, _, count, *_ = lax.while_loop(going, body, (x, jnp.zeros_like(x), i32(0), more, f32(1)))
    with jax.named_scope("decode"):
        h = x.astype(bf)
        for number, w in enumerate(p["decode"]):
            h = conv(h, w)
            if number in (0, 1):
                h = con(jax.nn.silu(h), "data", None, None, "model")
                h = jax.image.resize(h, (B, h.shape[1] * 2, h.shape[2] * 2, h.shape[3]), "bilinear")
            elif number == 2:
                h = jax.nn.silu(h)
        pixels = jnp.clip(jnp.round(h.astype(f32) * 127.5 + 127.5), 0, 255).astype(jnp.uint8)
    return con(pixels, "data"), count


c = jax.jit(sample).lower(params, tokens, lengths, scale, key).compile()
print(c.memory_analysis())
