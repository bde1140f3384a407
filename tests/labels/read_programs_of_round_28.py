"""Programs that were compiled to be read by hand in round 28, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: PLR0915 - a program is one function, of many operations and inputs

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def filtered():
    """Long filters given by a small net, applied by Fourier transforms, gates, text of bytes."""
    over = mesh(data=2, model=4)
    rows, long, wide, layers, marks = 4, 64, 32, 2, 96
    layer = {
        "in": arr(over, (layers, wide, 3, wide), None, None, None, "model"),
        "short": arr(over, (layers, 3, 3, wide), None, None, None, "model"),
        "first": arr(over, (layers, 9, 16)),
        "second": arr(over, (layers, 16, wide), None, None, "model"),
        "fade": arr(over, (layers, wide), None, "model"),
        "skip": arr(over, (layers, wide), None, "model"),
        "out": arr(over, (layers, wide, wide), None, "model"),
        "up": arr(over, (layers, wide, 4, 2, wide), None, None, None, None, "model"),
        "down": arr(over, (layers, 4, wide, wide), None, None, "model"),
        "gain": arr(over, (layers, 2, wide)),
    }
    params = {"mark": arr(over, (marks, wide), None, "model"), "layers": layer}

    def norm(x, gain):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain

    def filters(p):
        t = jnp.linspace(0, 1, long)[:, None]
        seen = jnp.concatenate([t, jnp.sin(t * np.arange(1, 5)), jnp.cos(t * np.arange(1, 5))], -1)
        h = jnp.sin(seen @ p["first"]) @ p["second"]
        h = h * jnp.exp(-jnp.abs(p["fade"]) * t * 5.0)
        return h / (jnp.abs(h).sum(0, keepdims=True) + 1e-5)

    def body(carried, p):
        x, key = carried
        key, own = jax.random.split(key)
        n = norm(x, p["gain"][0])
        z = jnp.einsum("btd,dcw->cbtw", n, p["in"])
        early = jnp.pad(z, ((0, 0), (0, 0), (2, 0), (0, 0)))
        taps = [early[:, :, k : k + long] * p["short"][k][:, None, None] for k in range(3)]
        a, b, v = sum(taps)
        u = jnp.fft.rfft(v * b, 2 * long, axis=1) * jnp.fft.rfft(filters(p), 2 * long, axis=0)
        y = jnp.fft.irfft(u, 2 * long, axis=1)[:, :long] + p["skip"] * v * b
        x += jnp.einsum("btw,wd->btd", a * y, p["out"])
        score = jax.random.gumbel(own, (rows, 4)) + norm(x, 1.0).mean((1, 2))[:, None]
        pick = jax.nn.one_hot(jnp.argmax(score, -1), 4)
        g, h = jnp.moveaxis(jnp.einsum("btd,decw->cbtew", norm(x, p["gain"][1]), p["up"]), 0, 0)
        return (x + jnp.einsum("btew,be,ewd->btd", jax.nn.silu(g) * h, pick, p["down"]), key), pick

    def train(p, slow, count, text, seed):
        def loss(p):
            x = p["mark"][text[:, :-1].astype(jnp.int32) % marks]
            start = x, jax.random.wrap_key_data(seed)
            (x, _), picks = lax.scan(jax.checkpoint(body), start, p["layers"])
            log = jax.nn.log_softmax(norm(x, 1.0) @ p["mark"].T)
            wanted = jax.nn.one_hot(text[:, 1:].astype(jnp.int32) % marks, marks)
            part = jnp.clip(count / 100.0, 0.0, 1.0)
            wanted = wanted * (1 - 0.1 * part) + 0.1 * part / marks
            return -(wanted * log).sum(-1).mean(), picks.mean((0, 1))

        (value, picks), slope = jax.value_and_grad(loss, has_aux=True)(p)
        slope = jax.tree.map(lambda g: jnp.where(jnp.isfinite(g), g, 0), slope)
        slow = jax.tree.map(lambda m, g: 0.95 * m + g, slow, slope)
        p = jax.tree.map(lambda w, m, g: w - 0.02 * (0.95 * m + g) - 1e-4 * w, p, slow, slope)
        order = jnp.argsort(-picks)
        return p, slow, count + 1, value, order

    text = arr(over, (rows, long + 1), "data", dtype="uint8")
    return (
        train,
        params,
        params,
        arr(over, (), dtype="int32"),
        text,
        arr(over, (2,), dtype="uint32"),
    )


def remembered():
    """A memory that is read and written by likeness and by order of use, through time."""
    over = mesh(data=4, model=2)
    rows, times, slots, cell, wide, seen, told, reads = 8, 6, 16, 12, 48, 10, 6, 2
    face = reads * (cell + 1) + 3 * cell + 2 + reads * 4 + reads
    net = {
        "in": arr(over, (seen + reads * cell, 4, wide), None, None, "model"),
        "own": arr(over, (wide, 4, wide), None, None, "model"),
        "face": arr(over, (wide, face), "model"),
        "out": arr(over, (wide + reads * cell, told)),
    }

    def alike(memory, keys, sharp):
        a = memory * lax.rsqrt(jnp.sum(memory * memory, -1, keepdims=True) + 1e-6)
        b = keys * lax.rsqrt(jnp.sum(keys * keys, -1, keepdims=True) + 1e-6)
        return jax.nn.softmax(jnp.einsum("nc,kc->kn", a, b) * sharp[:, None], -1)

    def turn(p, state, x):
        h, c, memory, use, links, last, write, looks = state
        given = jnp.concatenate([x, (looks @ memory).ravel()])
        z = jnp.einsum("i,igw->gw", given, p["in"]) + jnp.einsum("i,igw->gw", h, p["own"])
        c = jax.nn.sigmoid(z[0] + 1) * c + jax.nn.sigmoid(z[1]) * jnp.tanh(z[2])
        h = jax.nn.sigmoid(z[3]) * jnp.tanh(c)
        f = h @ p["face"]
        sizes = [reads * cell, reads, cell, cell, cell, 1, 1, reads * 4]
        keys, sharp, key, wipe, new, gate, much, modes, free = jnp.split(f, np.cumsum(sizes))
        keys, sharp = keys.reshape(reads, cell), jax.nn.softplus(sharp) + 1
        free, wipe = jax.nn.sigmoid(free), jax.nn.sigmoid(wipe)
        use = (use + write - use * write) * jnp.prod(1 - free[:, None] * looks, 0)
        order = jnp.argsort(use)
        inward = use[order]
        room = (1 - inward) * jnp.concatenate([jnp.ones(1), jnp.cumprod(inward)[:-1]])
        room = jnp.zeros(slots).at[order].set(room)
        near = alike(memory, key[None], jnp.ones(1) * 3)[0]
        gate, much = jax.nn.sigmoid(gate), jax.nn.sigmoid(much)
        write = much * (gate * room + (1 - gate) * near)
        memory = memory * (1 - write[:, None] * wipe) + write[:, None] * new
        links = (1 - write[:, None] - write[None]) * links + write[:, None] * last[None]
        links = links * (1 - jnp.eye(slots))
        last = (1 - write.sum()) * last + write
        mode = jax.nn.softmax(modes.reshape(reads, 4), -1)
        ways = [looks @ links, alike(memory, keys, sharp), looks @ links.T, jnp.flip(looks, -1)]
        looks = sum(mode[:, n, None] * way for n, way in enumerate(ways))
        out = jnp.concatenate([h, (looks @ memory).ravel()]) @ p["out"]
        return (h, c, memory, use, links, last, write, looks), (out, use.max())

    def train(p, sizes, xs, wanted, ends):
        zero = jnp.zeros
        start = (zero(wide), zero(wide), zero((slots, cell)) + 1e-3, zero(slots))
        start += (zero((slots, slots)), zero(slots), zero(slots), zero((reads, slots)))

        def loss(p):
            def run(x):
                return lax.scan(jax.checkpoint(lambda s, x: turn(p, s, x)), start, x)[1]

            told_, used = jax.vmap(run)(xs)
            log = jax.nn.log_softmax(told_)
            own = jnp.take_along_axis(log, wanted[..., None], -1)[..., 0]
            true = jnp.arange(times)[None] >= times - ends[:, None]
            hit = (jnp.argmax(told_, -1) == wanted) & true
            return -(own * true).sum() / true.sum(), (hit.sum(1) == ends, used.max())

        (value, (all_right, used)), slope = jax.value_and_grad(loss, has_aux=True)(p)
        most = jnp.max(jnp.stack([jnp.abs(g).max() for g in jax.tree.leaves(slope)]))
        slope = jax.tree.map(lambda g: g * jnp.where(most > 10, 10 / most, 1.0), slope)
        sizes = jax.tree.map(lambda s, g: 0.9 * s + 0.1 * g * g, sizes, slope)
        p = jax.tree.map(lambda w, s, g: w - 1e-3 * g / jnp.sqrt(s + 1e-4), p, sizes, slope)
        return p, sizes, value, all_right.mean(), used

    xs = arr(over, (rows, times, seen), "data")
    wanted = arr(over, (rows, times), "data", dtype="int32")
    return train, net, net, xs, wanted, arr(over, (rows,), "data", dtype="int32")


def surveyed():
    """Waves through a ground in strips with borders sent on, and the ground found by its echoes."""
    over = mesh(strip=4, shot=2)
    high, broad, shots, times, ears = 16, 32, 4, 8, 10
    down = [(i, i + 1) for i in range(3)]
    up = [(i + 1, i) for i in range(3)]

    def strips(speed, pulse, place, heard):
        here = lax.axis_index("strip")
        deep = speed.shape[0]
        soft = jnp.exp(-0.05 * jnp.maximum(0.0, 6.0 - jnp.arange(broad)) ** 2)
        soft = soft * soft[::-1]

        def bent(u):
            above = lax.ppermute(u[:, -1:], "strip", down)
            below = lax.ppermute(u[:, :1], "strip", up)
            tall = jnp.concatenate([above, u, below], 1)
            side = jnp.pad(u, ((0, 0), (0, 0), (1, 1)))
            return tall[:, :-2] + tall[:, 2:] + side[:, :, :-2] + side[:, :, 2:] - 4 * u

        def step(state, given):
            now, old = state
            size, n = given
            new = 2 * now - old + (0.3 * speed) ** 2 * bent(now)
            row, column = place[:, 0] - here * deep, place[:, 1]
            mine = (row >= 0) & (row < deep)
            at = (jnp.arange(new.shape[0]), jnp.clip(row, 0, deep - 1), column)
            new = new.at[at].add(jnp.where(mine, size, 0.0)) * soft
            said = jnp.where(here == 0, new[:, 0, 3 : 3 + 2 * ears : 2], 0.0)
            return (new, now), lax.cond(n % 2 == 0, lambda x: x, lambda x: 0.5 * x, said)

        def off(speed_):
            nonlocal speed
            speed = speed_
            zero = jnp.zeros((place.shape[0], deep, broad))
            _, said = lax.scan(jax.checkpoint(step), (zero, zero), (pulse, jnp.arange(times)))
            said = lax.psum(said, "strip")
            apart = said - jnp.moveaxis(heard, 0, 1)
            rough = jnp.abs(jnp.diff(speed_, axis=1)).mean()
            huber = jnp.where(jnp.abs(apart) < 1, 0.5 * apart**2, jnp.abs(apart) - 0.5)
            return lax.pmean(huber.mean(), "shot") + 1e-3 * lax.pmean(rough, "strip")

        value, slope = jax.value_and_grad(off)(speed)
        slope = lax.pmean(slope, "shot")
        best = lax.pmax(jnp.abs(slope).max(), "strip")
        whole = lax.all_gather(slope, "strip", tiled=True)
        line = lax.sort(jnp.abs(whole).ravel())[-16]
        return value, jnp.clip(slope, -line, line) / (best + 1e-9)

    ins = (P("strip"), P(), P("shot"), P("shot"))
    both = smap(over, ins, (P(), P("strip")))(strips)

    def train(speed, past, pulse, place, heard):
        def step(state, _):
            speed, past = state
            value, slope = both(speed, pulse, place, heard)
            past = jnp.concatenate([past[1:], slope[None]])
            way = jnp.einsum("n,nhw->hw", 0.5 ** jnp.arange(3)[::-1], past)
            smooth = lax.reduce_window(way, 0.0, lax.add, (3, 3), (1, 1), "SAME") / 9
            return (jnp.clip(speed - 0.02 * smooth, 0.5, 2.0), past), value

        (speed, past), values = lax.scan(step, (speed, past), None, 3)
        return speed, past, values, jnp.histogram(speed, 8, (0.5, 2.0))[0]

    speed = arr(over, (high, broad), "strip")
    past = arr(over, (3, high, broad), None, "strip")
    place = arr(over, (shots, 2), "shot", dtype="int32")
    heard = arr(over, (shots, times, ears), "shot")
    return train, speed, past, arr(over, (times,)), place, heard


if __name__ == "__main__":
    compiled(globals())
