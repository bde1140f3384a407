"""Two programs of a survey by photographs: pairs of pictures by drawn hypotheses, and a joint adjustment of all cameras.

For eight CPU devices: mesh view 4 x track 2. Pairs: mutual best matches of descriptors with a test of ratios, essential
matrices from eight drawn matches each (singular vectors by a batch), the best one by a soft count, refined by weighted fits in
a loop, four poses of which the one is kept that has most points before both cameras, and tracks by spreading the least
number along matches in a while loop. Adjustment: slopes of each sighting by forward rules, a damped step with robust weights
in which points are eliminated (small inverses, products with the reduced matrix without forming it, conjugate gradients
with blocks of cameras), positions by satellite as priors, lenses shared by groups, taken or not by a conditional in a while
loop; then sightings with large errors are dropped, and the reduced matrix is formed and inverted for errors of cameras.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("view", "track"))
f32, i32 = jnp.float32, jnp.int32
# pairs, key points, size of a descriptor, hypotheses, pictures; cameras, points, sightings, groups of lenses
PAIRS, K, DESC, HYP, VIEWS, CAMS, POINTS, SEEN, LENSES = 32, 512, 128, 128, 24, 64, 4096, 16384, 4


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
hat = lambda v: jnp.stack(
    [
        jnp.stack([0 * v[0], -v[2], v[1]]),
        jnp.stack([v[2], 0 * v[0], -v[0]]),
        jnp.stack([-v[1], v[0], 0 * v[0]]),
    ]
)


def fitted(a, b, w):
    """The essential matrix of weighted matches: the least singular vector, then two equal singular values."""
    rows = (b[:, :, None] * a[:, None, :]).reshape(-1, 9) * w[:, None]
    _, vec = jnp.linalg.eigh(rows.T @ rows + 1e-9 * jnp.eye(9))
    u, s, v = jnp.linalg.svd(vec[:, 0].reshape(3, 3))
    m = (s[0] + s[1]) / 2
    return u @ jnp.diag(jnp.stack([m, m, 0 * m])) @ v


def sampson(e, a, b):
    ea, eb = a @ e.T, b @ e
    return jnp.sum(b * ea, 1) ** 2 / (
        ea[:, 0] ** 2 + ea[:, 1] ** 2 + eb[:, 0] ** 2 + eb[:, 1] ** 2 + 1e-12
    )


def depths(r, t, a, b):
    """Depths of midpoints along both rays."""
    d = b @ r
    c = -r.T @ t
    aa, dd, ad = jnp.sum(a * a, 1), jnp.sum(d * d, 1), jnp.sum(a * d, 1)
    det = jnp.maximum(aa * dd - ad * ad, 1e-9)
    ca, cd = a @ c, d @ c
    return (ca * dd - cd * ad) / det, (ca * ad - cd * aa) / det


def pair(first, second, key):
    s = first["desc"] @ second["desc"].T
    near, at = lax.top_k(s, 2)
    back = jnp.argmax(s, 0)
    good = (back[at[:, 0]] == jnp.arange(K)) & (1 - near[:, 0] < 0.8**2 * (1 - near[:, 1]))
    one = jnp.ones((K, 1), f32)
    a, b = jnp.concatenate([first["at"], one], 1), jnp.concatenate([second["at"][at[:, 0]], one], 1)
    order = jnp.log(good + 1e-6) + 4.0 * near[:, 0] + jax.random.gumbel(key, (HYP, K))
    _, picks = lax.top_k(order, 8)
    es = jax.vmap(lambda i: fitted(a[i], b[i], jnp.ones((8,), f32)))(picks)
    errors = jax.vmap(lambda e: sampson(e, a, b))(es)
    limit = (2.0 / 1200) ** 2
    score = jnp.sum(jnp.maximum(1 - errors / limit, 0) * good, 1)
    e = es[jnp.argmax(score)]

    def refine(i, e):
        w = good / (1 + sampson(e, a, b) / (limit * 4.0 ** (2 - i)))
        return fitted(a, b, jnp.sqrt(w))

    e = lax.fori_loop(0, 3, refine, e)
    fits = good & (sampson(e, a, b) < limit)
    u, _, v = jnp.linalg.svd(e)
    u, v = u * jnp.sign(jnp.linalg.det(u)), v * jnp.sign(jnp.linalg.det(v))
    w = jnp.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], f32)
    rs = jnp.stack([u @ w @ v, u @ w @ v, u @ w.T @ v, u @ w.T @ v])
    ts = jnp.stack([u[:, 2], -u[:, 2], u[:, 2], -u[:, 2]])
    za, zb = jax.vmap(lambda r, t: depths(r, t, a, b))(rs, ts)
    before = jnp.sum((za > 0) & (zb > 0) & (za < 100) & fits, 1)
    best = jnp.argmax(before)
    far = jnp.sum(a * (b @ rs[best]), 1) / jnp.sqrt(jnp.sum(a * a, 1) * jnp.sum(b * b, 1))
    angle = jnp.median(jnp.where(fits, jnp.arccos(jnp.clip(far, -1, 1)), 0.0))
    return (
        rs[best],
        ts[best],
        fits & (za[best] > 0) & (zb[best] > 0),
        at[:, 0],
        before[best],
        angle,
        score.max(),
    )


def survey_pairs(views, pairs, key):
    desc = views["desc"].astype(f32)
    desc = jnp.sqrt(desc / jnp.maximum(desc.sum(-1, keepdims=True), 1e-6))
    take = lambda n: dict(
        desc=con(desc[n], "view", None, "track"), at=con(views["at"][n], "view", None, None)
    )
    keys = jax.random.split(jax.random.wrap_key_data(key), PAIRS)
    r, t, fits, at, count, angle, score = jax.vmap(pair)(take(pairs[:, 0]), take(pairs[:, 1]), keys)
    fits = fits & (count > 15)[:, None]
    left = (pairs[:, :1] * K + jnp.arange(K)).reshape(-1)
    right = (pairs[:, 1:] * K + at).reshape(-1)
    use = fits.reshape(-1)

    def spread(c):
        label, _, n = c
        least = jnp.minimum(label[left], label[right])
        least = jnp.where(use, least, VIEWS * K)
        new = label.at[left].min(least).at[right].min(least)
        new = jnp.minimum(new, new[new])
        return new, (new != label).any(), n + 1

    label, _, turns = lax.while_loop(
        lambda c: c[1] & (c[2] < 50), spread, (jnp.arange(VIEWS * K), True, 0)
    )
    view = jnp.arange(VIEWS * K) // K
    size = jnp.zeros((VIEWS * K,), i32).at[label].add(1)
    again = lax.sort((label, view), num_keys=2)
    twice = jnp.concatenate(
        [jnp.zeros((1,), bool), (again[0][1:] == again[0][:-1]) & (again[1][1:] == again[1][:-1])]
    )
    broken = jnp.zeros((VIEWS * K,), bool).at[again[0]].max(twice)
    keep = (size >= 2) & ~broken
    _, longest = lax.top_k(jnp.where(keep, size, 0), POINTS)
    return (
        dict(r=r, t=t, fits=fits, at=at, angle=angle, score=score),
        jnp.where(keep[label], label, -1),
        longest,
        turns,
    )


cameras = dict(turn=S((CAMS, 3), f32), at=S((CAMS, 3), f32), lens=S((LENSES, 3), f32))
points = S((POINTS, 3), f32, "track")
seen = dict(
    camera=S((SEEN,), i32, "view"),
    point=S((SEEN,), i32, "view"),
    at=S((SEEN, 2), f32, "view"),
    use=S((SEEN,), f32, "view"),
)
known = dict(at=S((CAMS, 3), f32), sigma=S((CAMS, 3), f32), lens=S((CAMS,), i32))


def project(camera, x):
    """Turned by Rodrigues, then the lens with two terms of distortion."""
    w, c, (f, k1, k2) = camera[:3], camera[3:6], camera[6:]
    a2 = jnp.sum(w * w) + 1e-12
    a = jnp.sqrt(a2)
    h = hat(w)
    r = jnp.eye(3) + jnp.sin(a) / a * h + (1 - jnp.cos(a)) / a2 * h @ h
    y = r @ (x - c)
    p = -y[:2] / y[2]
    n = jnp.sum(p * p)
    return f * (1 + k1 * n + k2 * n * n) * p


def gathered(cameras, known):
    return jnp.concatenate([cameras["turn"], cameras["at"], cameras["lens"][known["lens"]]], 1)


def weighted(r, use):
    """Cauchy's weights and costs, scale of one pixel."""
    n = jnp.sum(r * r, 1)
    return use / (1 + n), 0.5 * jnp.sum(use * jnp.log1p(n))


def cost(cameras, points, seen, known):
    cam = gathered(cameras, known)
    r = jax.vmap(project)(cam[seen["camera"]], points[seen["point"]]) - seen["at"]
    prior = (cameras["at"] - known["at"]) / known["sigma"]
    return weighted(r, seen["use"])[1] + 0.5 * jnp.sum(prior**2), r


def blocks(cameras, points, seen, known):
    """All parts of the normal equations: blocks of cameras, of points, and of sightings."""
    cam = gathered(cameras, known)[seen["camera"]]
    x = points[seen["point"]]
    jc, jp = jax.vmap(jax.jacfwd(project, (0, 1)))(cam, x)
    r = jax.vmap(project)(cam, x) - seen["at"]
    w, value = weighted(r, seen["use"])
    jc, jp, r = (
        con(v * jnp.sqrt(w).reshape(-1, *[1] * (v.ndim - 1)), "view", *[None] * (v.ndim - 1))
        for v in (jc, jp, r)
    )
    sums = lambda v, i, n: jax.ops.segment_sum(v, seen[i], n)
    hc = sums(jnp.einsum("nij,nik->njk", jc, jc), "camera", CAMS)
    hp = con(sums(jnp.einsum("nij,nik->njk", jp, jp), "point", POINTS), "track", None, None)
    gc = sums(jnp.einsum("nij,ni->nj", jc, r), "camera", CAMS)
    gp = con(sums(jnp.einsum("nij,ni->nj", jp, r), "point", POINTS), "track", None)
    s = 1 / known["sigma"] ** 2
    hc = hc + jnp.zeros((CAMS, 9, 9), f32).at[:, np.arange(3, 6), np.arange(3, 6)].set(s)
    gc = gc.at[:, 3:6].add(s * (cameras["at"] - known["at"]))
    mix = con(jnp.einsum("nij,nik->njk", jc, jp), "view", None, None)
    return hc, hp, gc, gp, mix, value


def shared(v, known):
    """Lenses are means over their group."""
    n = jnp.zeros((LENSES, 1), f32).at[known["lens"]].add(1.0)
    return jnp.zeros((LENSES, 3), f32).at[known["lens"]].add(v) / jnp.maximum(n, 1)


def solved(parts, seen, damp):
    hc, hp, gc, gp, mix, _ = parts
    big = lambda h: h + damp * jnp.eye(h.shape[-1]) * jnp.maximum(h, 1e-6)
    hc, hp = big(hc), big(hp)
    inv = con(jnp.linalg.inv(hp + 1e-8 * jnp.eye(3)), "track", None, None)
    to_point = lambda x: jax.ops.segment_sum(
        jnp.einsum("njk,nj->nk", mix, x[seen["camera"]]), seen["point"], POINTS
    )
    to_camera = lambda y: jax.ops.segment_sum(
        jnp.einsum("njk,nk->nj", mix, y[seen["point"]]), seen["camera"], CAMS
    )
    apply = lambda y: con(jnp.einsum("pij,pj->pi", inv, con(y, "track", None)), "track", None)
    reduced = lambda x: jnp.einsum("cij,cj->ci", hc, x) - to_camera(apply(to_point(x)))
    b = to_camera(apply(gp)) - gc
    low = jnp.linalg.cholesky(hc + 1e-6 * jnp.eye(9))

    def inverse(q):
        y = lax.linalg.triangular_solve(low, q[..., None], left_side=True, lower=True)
        return lax.linalg.triangular_solve(low, y, left_side=True, lower=True, transpose_a=True)[
            ..., 0
        ]

    def turn(c):
        x, q, s, old, n = c
        a = reduced(s)
        alpha = old / (jnp.vdot(s, a) + 1e-20)
        x, q = x + alpha * s, q - alpha * a
        z = inverse(q)
        new = jnp.vdot(q, z)
        return x, q, z + new / old * s, new, n + 1

    z = inverse(b)
    start = jnp.vdot(b, z)
    x, *_, n = lax.while_loop(
        lambda c: (c[3] > 1e-8 * start) & (c[4] < 100), turn, (jnp.zeros_like(b), b, z, start, 0)
    )
    return x, apply(-gp - to_point(x)), n


def survey_adjust(cameras, points, seen, known):
    def step(c):
        cameras, points, damp, value, turns, n, _ = c
        parts = blocks(cameras, points, seen, known)
        x, y, k = solved(parts, seen, damp)
        lens = cameras["lens"] + shared(x[:, 6:], known)
        tried = (
            dict(turn=cameras["turn"] + x[:, :3], at=cameras["at"] + x[:, 3:6], lens=lens),
            points + y,
        )
        new, _ = cost(*tried, seen, known)
        hc, hp, gc, gp, _, _ = parts
        told = -0.5 * (jnp.vdot(x, gc) + jnp.vdot(y, gp)) + 0.5 * damp * jnp.sum(
            x * x * jnp.einsum("cii->ci", hc)
        )
        gain = (value - new) / (told + 1e-12)
        taken, damp, now = lax.cond(
            gain > 1e-3,
            lambda: (tried, damp * jnp.maximum(1 / 3, 1 - (2 * gain - 1) ** 3), new),
            lambda: ((cameras, points), damp * 4, value),
        )
        rest = (jnp.abs(value - now) < 1e-6 * value) & (gain > 1e-3)
        return *taken, jnp.clip(damp, 1e-9, 1e6), now, turns + k, n + 1, rest

    value, _ = cost(cameras, points, seen, known)
    first = (cameras, points, jnp.float32(1e-3), value, 0, 0, False)
    cameras, points, damp, value, turns, n, _ = lax.while_loop(
        lambda c: ~c[6] & (c[5] < 30), step, first
    )
    _, r = cost(cameras, points, seen, known)
    error = jnp.sqrt(jnp.sum(r * r, 1))
    middle = jnp.nanmedian(jnp.where(seen["use"] > 0, error, jnp.nan))
    use = seen["use"] * (error < jnp.maximum(4.0 * 1.4826 * middle, 1.0))
    rays = jnp.zeros((POINTS,), f32).at[seen["point"]].add(use)
    use = use * (rays[seen["point"]] >= 2)
    hc, hp, _, _, mix, _ = blocks(cameras, points, dict(seen, use=use), known)
    inv = jnp.linalg.inv(hp + 1e-6 * jnp.eye(3))
    wide = jnp.zeros((POINTS, CAMS, 9, 3), f32).at[seen["point"], seen["camera"]].add(mix)
    wide = con(wide, "track", "view", None, None)
    full = -jnp.einsum("pcij,pjk,pdlk->cidl", wide, inv, wide)
    full = full.at[np.arange(CAMS), :, np.arange(CAMS)].add(hc).reshape(CAMS * 9, CAMS * 9)
    low = jnp.linalg.cholesky(con(full, None, None) + 1e-4 * jnp.eye(CAMS * 9))
    half = lax.linalg.triangular_solve(low, jnp.eye(CAMS * 9), left_side=True, lower=True)
    sigma = jnp.sqrt(jnp.sum(half * half, 0)).reshape(CAMS, 9)
    by = jnp.zeros((CAMS, 2), f32).at[seen["camera"]].add(jnp.stack([error * use, use], 1))
    return (
        cameras,
        points,
        use,
        (value, n, turns, damp),
        sigma,
        by[:, 0] / jnp.maximum(by[:, 1], 1),
        jnp.histogram(error, 32)[0],
    )


if __name__ == "__main__":
    views = dict(desc=S((VIEWS, K, DESC), jnp.uint8), at=S((VIEWS, K, 2), f32))
    with jax.set_mesh(mesh):
        low = jax.jit(survey_pairs).lower(views, S((PAIRS, 2), i32, "view"), S((2,), jnp.uint32))
        print(len(low.compile().as_text()))
        print(
            len(
                jax.jit(survey_adjust, donate_argnums=(0, 1))
                .lower(cameras, points, seen, known)
                .compile()
                .as_text()
            )
        )
