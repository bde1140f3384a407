"""The roofline of the page on cost, also in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10

from xlareport.analysis.cost.heavy import HeavyInstruction
from xlareport.knowledge.devices import Device
from xlareport.pages.charts import grid_line, svg_chart
from xlareport.runtime import units

_WIDTH, _HEIGHT = 760, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 8, 14, 34
_LOW = _HEIGHT - _BOTTOM
_DOTS = 60
_LEAST_INTENSITY = 0.01


def roofline(rows: Sequence[HeavyInstruction], device: Device, seconds: float | None) -> str:
    """Return the roofline chart of a device, with the heavy instructions as dots.

    Each dot is at the rate that its roofline time allows, which shows which instructions are
    memory-bound, and how far they are from the ridge. Empty if nothing computes. `seconds` is the
    roofline time of the module.
    """
    placed = [(row.cost.intensity or None, row) for row in rows[:_DOTS]]
    rated = [(max(value, _LEAST_INTENSITY), row) for value, row in placed if value is not None]
    if not rated:
        return ""
    kind, peak = roof(rows, device)
    scale = _Scale(device, seconds or 1.0, peak, [(value, _rate(row)) for value, row in rated])
    dots = "".join(scale.dot(value, row) for value, row in rated)
    label = f"{units.quantity(peak, 'FLOP/s')} ({kind})"
    inside = f"{scale.ticks(label)}{scale.roof()}{dots}"
    return svg_chart(roofline_words(rows, device, seconds), inside, _HEIGHT)


def roof(rows: Sequence[HeavyInstruction], device: Device) -> tuple[str, float]:
    """Return the kind of matmul with the most FLOPs, in words, and its peak in FLOP/s."""
    work: Counter[str] = Counter()
    for row in rows:
        for kind, flops in row.cost.matrix_flops:
            work[kind] += flops * row.cost.counted
    if not work:
        return "no matmuls", device.vector_peak()
    kind = work.most_common(1)[0][0]
    return f"{kind} matmul peak", device.matrix_peak(kind)


def roofline_words(rows: Sequence[HeavyInstruction], device: Device, seconds: float | None) -> str:
    """Return the roofline's summary in a sentence."""
    bound = (row.roofline_seconds for row in rows if row.limit == "memory")
    held = sum(bound) / seconds if seconds else 0.0
    kind, peak = roof(rows, device)
    return (
        f"{units.share(held)} of roofline time is memory-bound; compute-bound from "
        f"{peak / device.bandwidth:.0f} FLOP/byte ({kind})"
    )


class _Scale:
    """Both axes of a roofline, by powers of ten."""

    def __init__(
        self, device: Device, seconds: float, peak: float, placed: Sequence[tuple[float, float]]
    ) -> None:
        """Fit the axes to instructions, each an intensity and a rate."""
        bandwidth = device.bandwidth
        self._bandwidth, self._peak, self._seconds = bandwidth, peak, seconds
        values, rates = zip(*placed, strict=True)
        ridge = peak / bandwidth
        self._first = floor(log10(min(*values, ridge, 1.0)))
        self._last = max(ceil(log10(max(*values, ridge * 3))), self._first + 1)
        self._top = log10(peak)
        least = min((rate for rate in rates if rate >= 1), default=peak)
        # What the interconnect bounds is below the roof, sometimes by orders of magnitude.
        self._bottom = min(log10(bandwidth) + self._first, log10(least))

    def roof(self) -> str:
        """Return the line: bandwidth times intensity, then the peak."""
        ends = (10.0**self._first, self._peak / self._bandwidth, 10.0**self._last)
        path = "L".join(f"{self._x(end):.1f} {self._y(end * self._bandwidth):.1f}" for end in ends)
        return f'<path class="xr-line" d="M{path}"/>'

    def dot(self, value: float, row: HeavyInstruction) -> str:
        """Return the dot of one instruction; its size grows with its share of the time."""
        share = row.roofline_seconds / self._seconds
        words = (
            f"%{row.instruction}: {value:.3g} FLOP/byte, {units.share(share)} "
            f"of roofline time, bound by {row.limit}"
        )
        height = self._y(_rate(row))
        radius = 2.5 + 7 * share**0.5
        return (
            f'<circle class="xr-mark" cx="{self._x(value):.1f}" cy="{height:.1f}" '
            f'r="{radius:.1f}"><title>{escape(words)}</title></circle>'
        )

    def ticks(self, label: str) -> str:
        """Return the labels of both axes; `label` names the roof."""
        named = f'<text class="xr-tick" x="{_LEFT + 4}" y="{_TOP - 4}">{escape(label)}</text>'
        title = f'<text class="xr-tick" x="6" y="{_TOP - 4}">FLOP/s</text>'
        across = _middle("Operational intensity (FLOP/byte)")
        return named + title + "".join((*self._powers(), *self._rates())) + across

    def _rates(self) -> Iterator[str]:
        """Yield the labels of the rate axis, four or five of them."""
        first, last = ceil(self._bottom), floor(self._top)
        for power in range(max(0, first), min(last, 20) + 1, max(1, (last - first) // 4)):
            y = self._y(10.0**power)
            if y - _TOP > 8:  # below the name of the roof
                label = f"{10 ** (power % 3)} {units.DECIMAL_PREFIXES[power // 3]}"
                yield grid_line(_LEFT, _WIDTH - _RIGHT, y, label)

    def _powers(self) -> Iterator[str]:
        step = max(1, (self._last - self._first) // 8)
        for power in range(self._first, self._last + 1, step):
            x = self._x(10.0**power)
            anchor = "end" if power == self._last else "middle"
            yield (
                f'<path class="xr-grid" d="M{x:.1f} {_TOP}V{_LOW}"/>'
                f'<text class="xr-tick" x="{x:.1f}" y="{_LOW + 13}" text-anchor="{anchor}">'
                f"{10.0**power:g}</text>"
            )

    def _x(self, value: float) -> float:
        share = (log10(value) - self._first) / (self._last - self._first)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(1.0, share)

    def _y(self, rate: float) -> float:
        reached = log10(max(1.0, min(self._peak, rate)))
        share = max(0.0, (reached - self._bottom) / (self._top - self._bottom))
        return _TOP + (_LOW - _TOP) * (1 - share)


def _rate(row: HeavyInstruction) -> float:
    """Return the FLOP/s of an instruction at its roofline time."""
    return (row.cost.flops or 0) / row.least.seconds


def _middle(label: str) -> str:
    x = (_LEFT + _WIDTH - _RIGHT) / 2
    return f'<text class="xr-tick" x="{x:.0f}" y="{_LOW + 28}" text-anchor="middle">{label}</text>'
