"""Two programs of a laboratory: a spectral flow solver with a learned closure, and a Gaussian-process fit.

Run on 8 CPU devices: mesh batch 4 x model 2. FFTs, an adaptive loop, max pooling, Cholesky, triangular solves, sorting, random bits.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("batch", "model"))
put = lambda x, *s: jax.device_put(x, NamedSharding(mesh, P(*s)))
con = lambda x, *s: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
B, N, C = 8, 64, 16
kx = jnp.fft.fftfreq(N, 1 / N)[:, None]
ky = jnp.fft.rfftfreq(N, 1 / N)[None]
k2 = kx**2 + ky**2
inv = jnp.where(k2 == 0, 0.0, 1 / jnp.where(k2 == 0, 1, k2))
cut = (jnp.abs(kx) < N / 3) & (ky < N / 3)


def conv(x, w):
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def closure(p, w):
    x = w[..., None]
    for i, k in enumerate(p["convs"]):
        with jax.named_scope(f"conv_{i}"):
            x = jax.nn.gelu(conv(x, k) + p["bias"][i])
    pooled = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    gate = jax.nn.softmax(con(pooled.mean((1, 2)), "batch") @ p["gate"], -1)
    return jnp.einsum("bxyc,bc->bxy", x, gate)


def tendency(p, wh):
    u, v = (
        jnp.fft.irfft2(1j * ky * inv * wh, s=(N, N)),
        jnp.fft.irfft2(-1j * kx * inv * wh, s=(N, N)),
    )
    gx, gy = jnp.fft.irfft2(1j * kx * wh, s=(N, N)), jnp.fft.irfft2(1j * ky * wh, s=(N, N))
    f = -(u * gx + v * gy) + closure(p, jnp.fft.irfft2(wh, s=(N, N)))
    return jnp.where(cut, jnp.fft.rfft2(f), 0) - 1e-3 * k2 * wh


def adaptive(p, wh, t_end):
    def cond(s):
        return (s[1] < t_end) & (s[3] < 20)

    def body(s):
        wh, t, dt, n = s
        a = tendency(p, wh)
        b = tendency(p, wh + dt * a)
        new = wh + dt / 2 * (a + b)
        err = jnp.sqrt(jnp.mean(jnp.abs(dt / 2 * (b - a)) ** 2))
        ok = err < 1e3
        return (
            jnp.where(ok, new, wh),
            jnp.where(ok, t + dt, t),
            dt * jnp.clip(0.9 * jnp.sqrt(1e3 / (err + 1e-9)), 0.3, 2.0),
            n + 1,
        )

    return jax.lax.while_loop(cond, body, (wh, 0.0, 1e-3, 0))


def rollout(p, w0):
    wh = jnp.fft.rfft2(w0)

    def it(wh, _):
        k = tendency(p, wh)
        wh = wh + 1e-3 * tendency(p, wh + 5e-4 * k)
        return wh, jnp.mean(jnp.abs(wh), (1, 2))

    wh, e = jax.lax.scan(jax.checkpoint(it), wh, None, length=6)
    return jnp.fft.irfft2(wh, s=(N, N)), e


def closure_train_step(p, m, key, w0, target):
    key, sub = jax.random.split(key)
    noisy = w0 + 0.01 * jax.random.normal(sub, w0.shape)

    def loss(p):
        w, e = rollout(p, noisy)
        q = jnp.sort(jnp.abs(w - target).reshape(B, -1), -1)[:, : N * N // 2]
        return jnp.mean(q**2) + 1e-6 * jnp.mean(e)

    l, g = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
    far, t, dt, n = adaptive(p, jnp.fft.rfft2(w0), 5e-3)
    return (
        jax.tree.map(lambda a, b: a - 1e-3 * b, p, m),
        m,
        key,
        dict(
            loss=l,
            steps=n,
            dt=dt,
            spectrum=jnp.bincount(
                jnp.sqrt(k2).astype(int).ravel(), (jnp.abs(far) ** 2).mean(0).ravel(), length=N // 2
            ),
        ),
    )


r = np.random.default_rng(0)
f = lambda *s: jnp.asarray(r.standard_normal(s) * 0.1, jnp.float32)
p = dict(
    convs=[
        put(f(3, 3, 1, C), None, None, None, "model"),
        put(f(3, 3, C, C), None, None, None, "model"),
    ],
    bias=[put(f(C), "model"), put(f(C), "model")],
    gate=put(f(C, C), None, "model"),
)
m = jax.tree.map(jnp.zeros_like, p)
w0, tgt = put(f(B, N, N), "batch"), put(f(B, N, N), "batch")
step = jax.jit(closure_train_step, donate_argnums=(0, 1))
for _ in range(2):
    p, m, key, out = step(p, m, jax.random.key(1), w0, tgt)
print({k: np.asarray(v).ravel()[:3] for k, v in out.items()})
M, Q, F = 8, 96, 6


def gp_fit(theta, x, y, xs):
    def nll(th, x, y):
        ls, amp, noise = jnp.exp(th[:F]), jnp.exp(th[F]), jnp.exp(th[F + 1])
        d = ((x[:, None] - x[None]) / ls) ** 2
        K = amp * jnp.exp(-0.5 * d.sum(-1)) + (noise + 1e-4) * jnp.eye(Q)
        Lc = jnp.linalg.cholesky(K)
        a = jax.scipy.linalg.cho_solve((Lc, True), y)
        return 0.5 * y @ a + jnp.log(jnp.diag(Lc)).sum(), (Lc, a)

    def it(c, _):
        th, mo, v, n = c
        (l, _), g = jax.vmap(jax.value_and_grad(nll, has_aux=True))(th, x, y)
        mo, v = 0.9 * mo + 0.1 * g, 0.99 * v + 0.01 * g * g
        best = jax.lax.top_k(-l, 2)[1]
        return (th - 0.05 * mo / (jnp.sqrt(v) + 1e-8), mo, v, n + 1), (l, best)

    (th, *_), (ls, best) = jax.lax.scan(
        it, (theta, jnp.zeros_like(theta), jnp.zeros_like(theta), 0), None, length=5
    )
    _, (Lc, a) = jax.vmap(nll)(th, x, y)
    lam, V = jnp.linalg.eigh(Lc @ Lc.mT)
    ks = jnp.exp(-0.5 * ((xs[:, :, None] - x[:, None]) ** 2).sum(-1))
    var = 1 - (jax.scipy.linalg.solve_triangular(Lc, ks.mT, lower=True) ** 2).sum(1)
    pick = jax.lax.switch(
        jnp.argmin(ls[-1]) % 3,
        [lambda: ks @ a[..., None], lambda: -(ks @ a[..., None]), lambda: jnp.zeros((M, Q, 1))],
    )
    return th, ls, best, pick, jnp.clip(var, 0), lam[:, -3:], V[:, :, -1], jnp.quantile(var, 0.9)


o = jax.jit(gp_fit)(
    put(f(M, F + 2), "batch"),
    put(f(M, Q, F), "batch"),
    put(f(M, Q), "batch"),
    put(f(M, Q, F), "batch"),
)
print([np.asarray(x).ravel()[:2] for x in o])
