/**
 * A round step that divides `seconds` into two to five parts.
 *
 * @param {number} seconds
 */
export function tickStep(seconds) {
  if (!(seconds > 0)) return 1;
  const rough = seconds / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  return factor * power;
}

/**
 * @param {number} seconds
 * @param {number} step
 */
export function tickLabel(seconds, step) {
  if (seconds === 0) return "0";
  if (step < 1) {
    const ms = seconds * 1000;
    if (seconds < 1) return `${Number(ms.toPrecision(3))} ms`;
    return `${Number(seconds.toFixed(2))} s`;
  }
  return seconds < 120 ? `${seconds} s` : `${Number((seconds / 60).toFixed(1))} min`;
}
