/** Figures as the pages write them (units.py does the same). */

const EN_DASH = "\u2013";
const whole = new Intl.NumberFormat("en-US");
/** @type {[number, string][]} how many of each unit are a second */
const TIMES = [
  [1, "s"],
  [1e3, "ms"],
  [1e6, "\u00b5s"],
];
const LEAST = 0.001;
const fraction = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/**
 * Divides a number until it reads well, as the pages do.
 * @param {number} number
 * @param {number} base
 * @param {string[]} units
 * @param {number} [significant] digits; without them one decimal below 100
 */
function scaled(number, base, units, significant) {
  let value = number;
  let unit = 0;
  while (unit < units.length - 1 && Math.round(value) >= base) {
    value /= base;
    unit += 1;
  }
  const decimals = significant ? Math.max(0, significant - value.toFixed(0).length) : value < 99.95 ? 1 : 0;
  return `${value.toFixed(unit === 0 && Number.isInteger(value) ? 0 : unit === 0 && !significant ? 0 : decimals)} ${units[unit]}`;
}

export const format = {
  unknown: EN_DASH,
  /** @param {number} number */
  count: (number) => whole.format(number).replace("-", "\u2212"),
  /** @param {number} number @returns {string} four digits; what is nearly nothing is told as such */
  float(number) {
    if (number > 0 && number < LEAST) return `<${LEAST}`;
    return fraction.format(number).replace("-", "\u2212");
  },
  /** @param {number} number a difference, or null where it is not known */
  signed(number) {
    return number === 0 ? "\u00b10" : number < 0 ? format.count(number) : `+${format.count(number)}`;
  },
  /** @param {number} share */
  percent(share) {
    const percent = share * 100;
    if (percent > 0 && percent < 0.1) return "<0.1%";
    if (percent > 99.9 && percent < 100) return ">99.9%";
    return `${percent.toFixed(percent >= 10 || percent === 0 ? 0 : 1)}%`;
  },
  /** @param {number} share shown with three digits: occupancies differ by half a percent */
  precise(share) {
    const isMiddle = share >= 0.001 && share <= 0.999;
    return isMiddle ? `${Number((share * 100).toPrecision(3))}%` : format.percent(share);
  },
  /** @param {number} number */
  bytes: (number) => scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
  /** @param {number} number */
  flops: (number) => (number ? `${scaled(number, 1000, ["", "k", "M", "G", "T", "P", "E"], 3)}FLOP` : "0"),
  /** @param {number} time seconds */
  seconds(time) {
    const [factor, unit] = TIMES.find(([each]) => time * each >= 1) ?? [1e9, "ns"];
    return `${Number((time * factor).toPrecision(3))} ${unit}`;
  },
  /**
   * @param {number} number
   * @param {string} singular
   * @param {string} [plural]
   */
  plural(number, singular, plural) {
    return `${format.count(number)} ${number === 1 ? singular : (plural ?? `${singular}s`)}`;
  },
};
