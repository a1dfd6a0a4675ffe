/** Numbers and times as people read them. */

/**
 * A duration in at most three digits and a unit: "0.4 ms", "312 ms", "2.15 s", "3 min 20 s".
 *
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 0.0995) return `${Number((seconds * 1000).toPrecision(2))} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/**
 * How long ago: "now", "12 s ago", "3 min ago", "2 h ago", "5 d ago".
 *
 * @param {number} seconds
 */
export function ago(seconds) {
  if (seconds < 1.5) return "now";
  if (seconds < 60) return `${Math.round(seconds)} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

/**
 * The time of day, with the date if it is not today's.
 *
 * @param {number} at Unix time in seconds
 */
export function clock(at) {
  const date = new Date(at * 1000);
  const time = date.toLocaleTimeString(undefined, { hour12: false });
  return date.toDateString() === new Date().toDateString()
    ? time
    : `${date.toLocaleDateString()} ${time}`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
