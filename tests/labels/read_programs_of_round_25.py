"""Programs that were compiled to be read by hand in round 25, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: C901, PLR0915, PLR0917 - a program is one function, of many operations and inputs

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from tagged_unseen import arr, compiled, mesh

_BF = "bfloat16"


def thinned():
    """Images in patches whose most alike tokens are merged by weight in each layer, distilled."""
    over = mesh(data=4, model=2)
    rows, side, patch, wide, heads, hidden, kinds, fewer = 8, 32, 4, 32, 4, 64, 10, 12
    layer = {
        "qkv": arr(over, (wide, 3, heads, wide // heads), None, None, "model"),
        "out": arr(over, (heads, wide // heads, wide), "model"),
        "up": arr(over, (wide, hidden), None, "model"),
        "down": arr(over, (hidden, wide), "model"),
        "gain": arr(over, (2, wide)),
    }
    params = {
        "patch": arr(over, (patch * patch * 3, wide)),
        "place": arr(over, ((side // patch) ** 2, wide)),
        "layers": [layer, layer, layer],
        "head": arr(over, (wide, kinds)),
    }

    def norm(x, gain):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * gain

    def merged(x, key, size):
        key = key / (jnp.linalg.norm(key, axis=-1, keepdims=True) + 1e-6)
        one, two = key[::2], key[1::2]
        alike = one @ two.T
        best, whose = alike.max(-1), jnp.argmax(alike, -1)
        order = jnp.argsort(-best)
        gone, kept = order[:fewer], jnp.sort(order[fewer:])
        weighted = x * size[:, None]
        total = weighted[1::2].at[whose[gone]].add(weighted[::2][gone])
        count = size[1::2].at[whose[gone]].add(size[::2][gone])
        x = jnp.concatenate([x[::2][kept], total / count[:, None]])
        return x, jnp.concatenate([size[::2][kept], count])

    def block(p, x, size):
        n = norm(x, p["gain"][0]).astype(_BF)
        q, k, v = jnp.einsum("td,dchk->cthk", n, p["qkv"].astype(_BF))
        score = jnp.einsum("thk,shk->hts", q, k).astype(jnp.float32) / np.sqrt(wide // heads)
        share = jax.nn.softmax(score + jnp.log(size), -1).astype(_BF)
        mixed = jnp.einsum("hts,shk->thk", share, v)
        x += jnp.einsum("thk,hkd->td", mixed, p["out"].astype(_BF)).astype(jnp.float32)
        x, size = merged(x, k.astype(jnp.float32).mean(1), size)
        n = norm(x, p["gain"][1])
        return x + jax.nn.gelu(n @ p["up"]) @ p["down"], size

    def seen(p, image):
        cut = image.reshape(side // patch, patch, side // patch, patch, 3)
        x = cut.transpose(0, 2, 1, 3, 4).reshape(-1, patch * patch * 3) @ p["patch"] + p["place"]
        size = jnp.ones(x.shape[0])
        for layer in p["layers"]:
            x, size = jax.checkpoint(block)(layer, x, size)
        return (x * size[:, None]).sum(0) / size.sum() @ p["head"], size

    def train(p, slow, images, label):
        teacher, _ = jax.vmap(seen, (None, 0))(slow, images[:, :, ::-1])

        def loss(p):
            logits, size = jax.vmap(seen, (None, 0))(p, images)
            logp = jax.nn.log_softmax(logits)
            true = jnp.take_along_axis(logp, label[:, None], 1).mean()
            soft = jnp.sum(jax.nn.softmax(teacher / 0.5) * logp, -1).mean()
            return -true - 0.5 * soft, (size.max(), jnp.mean(jnp.argmax(logits, -1) == label))

        (value, told), grads = jax.value_and_grad(loss, has_aux=True)(p)
        grads = jax.tree.map(lambda g: jnp.clip(g, -1.0, 1.0), grads)
        p = jax.tree.map(lambda w, g: w - 0.05 * g, p, grads)
        return p, jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b, slow, p), value, told

    images = arr(over, (rows, side, side, 3), "data")
    return train, params, params, images, arr(over, (rows,), "data", dtype="int32")


def flowed():
    """Images through invertible steps, halves moved by the other, and back from noise."""
    over = mesh(data=4, model=2)
    rows, side, wide, steps = 8, 16, 16, 3
    flow = {
        "scale": arr(over, (steps, 12)),
        "shift": arr(over, (steps, 12)),
        "lower": arr(over, (steps, 12, 12)),
        "upper": arr(over, (steps, 12, 12)),
        "diag": arr(over, (steps, 12)),
        "in": arr(over, (steps, 3, 3, 6, wide), None, None, None, None, "model"),
        "mid": arr(over, (steps, 1, 1, wide, wide), None, None, None, "model"),
        "out": arr(over, (steps, 3, 3, wide, 12)),
    }
    order = np.random.RandomState(3).permutation(12)

    def conv(x, w):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names)

    def squeezed(x):
        x = x.reshape(rows, side // 2, 2, side // 2, 2, -1)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(rows, side // 2, side // 2, -1)

    def spread(x):
        x = x.reshape(rows, side // 2, side // 2, 2, 2, -1)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(rows, side, side, -1)

    def mixing(p):
        lower = jnp.tril(p["lower"], -1) + jnp.eye(12)
        upper = jnp.triu(p["upper"], 1) + jnp.diag(jnp.exp(p["diag"]))
        return lower, upper

    def moves(p, half):
        h = jax.nn.relu(conv(half, p["in"]))
        h = conv(jax.nn.relu(conv(h, p["mid"])), p["out"])
        return jax.nn.sigmoid(h[..., ::2] + 2.0), h[..., 1::2]

    def ahead(carried, p):
        x, total = carried
        x = (x + p["shift"]) * jnp.exp(p["scale"])
        lower, upper = mixing(p)
        x = jnp.einsum("bhwc,dc->bhwd", x, lower @ upper)[..., order]
        left, right = jnp.split(x, 2, -1)
        scale, shift = moves(p, left)
        x = jnp.concatenate([left, right * scale + shift], -1)
        area = (side // 2) ** 2
        total += area * (p["scale"].sum() + p["diag"].sum()) + jnp.log(scale).sum((1, 2, 3))
        return (x, total), None

    def back(x, p):
        left, right = jnp.split(x, 2, -1)
        scale, shift = moves(p, left)
        x = jnp.concatenate([left, (right - shift) / scale], -1)[..., np.argsort(order)]
        lower, upper = mixing(p)
        flat = x.reshape(-1, 12).T
        flat = lax.linalg.triangular_solve(lower, flat, left_side=True, lower=True)
        flat = lax.linalg.triangular_solve(upper, flat, left_side=True, lower=False)
        return flat.T.reshape(x.shape) * jnp.exp(-p["scale"]) - p["shift"], None

    def train(p, moments, count, images, seed):
        one, two = jax.random.split(jax.random.wrap_key_data(seed))

        def loss(p):
            x = images.astype(jnp.float32) / 256 + jax.random.uniform(one, images.shape) / 256
            start = squeezed(x - 0.5), jnp.zeros(rows)
            (z, total), _ = lax.scan(jax.checkpoint(ahead), start, p)
            chance = -0.5 * jnp.sum(z * z + np.log(2 * np.pi), (1, 2, 3))
            return -(chance + total).mean() / (np.log(2) * images[0].size) + 8.0

        value, grads = jax.value_and_grad(loss)(p)
        count += 1
        rate = 1e-3 * jnp.minimum(1.0, count / 100)
        m, v = moments
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: jnp.maximum(0.999 * a, jnp.abs(g)), v, grads)
        p = jax.tree.map(lambda w, a, b: w - rate * a / (b + 1e-8), p, m, v)
        noise = 0.7 * jax.random.normal(two, (rows, side // 2, side // 2, 12))
        drawn, _ = lax.scan(back, noise, p, reverse=True)
        shown = jnp.clip(jnp.round((spread(drawn) + 0.5) * 256), 0, 255).astype(jnp.uint8)
        return p, (m, v), count, value, shown

    images = arr(over, (rows, side, side, 3), "data", dtype="uint8")
    return (
        train,
        flow,
        (flow, flow),
        arr(over, (), dtype="int32"),
        images,
        arr(over, (2,), dtype="uint32"),
    )


def draped():
    """A cloth of springs moved by implicit steps with a solver, and its stiffness fitted."""
    over = mesh(sheet=4, part=2)
    sheets, side, steps, most = 4, 8, 4, 6
    pairs = [(0, 1), (1, 0), (1, 1), (2, 0)]

    def springs():
        found = []
        for down, right in pairs:
            grid = np.arange(side * side).reshape(side, side)
            one, two = grid[: side - down, : side - right], grid[down:, right:]
            found.append(np.stack([one.ravel(), two.ravel()], -1))
        return np.concatenate(found)

    ends = springs()
    lengths = np.linalg.norm(
        np.stack(np.divmod(ends[:, 0], side), -1) - np.stack(np.divmod(ends[:, 1], side), -1),
        axis=-1,
    ).astype(np.float32)
    held = np.zeros((side * side, 1), np.float32)
    held[[0, side - 1]] = 1.0

    def forces(place, stiff, wind):
        one, two = place[ends[:, 0]], place[ends[:, 1]]
        way = two - one
        size = jnp.sqrt(jnp.sum(way * way, -1, keepdims=True) + 1e-8)
        pull = stiff[:, None] * (size - lengths[:, None]) * way / size
        total = jnp.zeros_like(place).at[ends[:, 0]].add(pull).at[ends[:, 1]].add(-pull)
        across = jnp.cross(place - jnp.roll(place, 1, 0), place - jnp.roll(place, side, 0))
        total += across * (across @ wind)[:, None] / (jnp.sum(across**2, -1, keepdims=True) + 1.0)
        return (total + jnp.array([0.0, -0.1, 0.0])) * (1 - held)

    def stepped(stiff, wind):
        def step(carried, _):
            place, speed = carried
            force = forces(place, stiff, wind)

            def applied(d):
                slope = jax.jvp(lambda a: forces(a, stiff, wind), (place,), (d,))[1]
                return d * (1.0 + 0.05) - 0.01 * slope

            def solved(apply, b):
                def going(state):
                    return (state[3] > 1e-6) & (state[4] < most)

                def tried(state):
                    x, r, d, size, n = state
                    moved = apply(d)
                    rate = size / (jnp.sum(d * moved) + 1e-12)
                    r = r - rate * moved
                    new = jnp.sum(r * r)
                    return x + rate * d, r, r + new / (size + 1e-12) * d, new, n + 1

                return lax.while_loop(going, tried, (jnp.zeros_like(b), b, b, jnp.sum(b * b), 0))[0]

            right = 0.1 * force + 0.0 * speed
            change = lax.custom_linear_solve(applied, right, solved, solved, symmetric=True)
            speed = 0.99 * (speed + change) * (1 - held)
            place += 0.1 * speed
            under = jnp.minimum(place[:, 1:2] + 3.0, 0.0)
            place = place - jnp.concatenate(
                [jnp.zeros_like(under), under, jnp.zeros_like(under)], -1
            )
            return (place, speed), (jnp.sum(speed**2), jnp.max(jnp.abs(force)))

        return step

    def train(stiff, mean, place, speed, wind, true):
        def loss(stiff):
            def sheet(place, speed, wind):
                step = stepped(jnp.exp(stiff), wind)
                return lax.scan(jax.checkpoint(step), (place, speed), None, steps)

            (last, speeds), told = jax.vmap(sheet)(place, speed, wind)
            off = jnp.sum((last - true) ** 2, -1)
            weight = jax.nn.softmax(-lax.stop_gradient(off), -1)
            smooth = jnp.mean(jnp.diff(stiff) ** 2)
            return jnp.mean(jnp.sum(weight * off, -1)) + 1e-3 * smooth, (last, speeds, told)

        (value, (last, speeds, told)), slope = jax.value_and_grad(loss, has_aux=True)(stiff)
        mean = 0.8 * mean + 0.2 * slope
        middle = jnp.median(jnp.abs(mean))
        stiff -= 0.1 * jnp.sign(mean) * (jnp.abs(mean) > 0.1 * middle)
        first, place_ = lax.sort((told[0].sum(-1), jnp.arange(sheets)), num_keys=1)
        return stiff, mean, last[place_], speeds[place_], value, first, told[1].max()

    stiff = arr(over, (len(ends),))
    place = arr(over, (sheets, side * side, 3), "sheet")
    return train, stiff, stiff, place, place, arr(over, (sheets, 3), "sheet"), place


if __name__ == "__main__":
    compiled(globals())
