import assert from "node:assert/strict";
import { test } from "node:test";
import { duration } from "../lib/format.js";
import { tickLabel, tickStep } from "./axis.js";

test("two to five round parts", () => {
  for (let seconds = 0.0001; seconds < 1e5; seconds *= 1.37) {
    const parts = seconds / tickStep(seconds);
    assert.ok(parts >= 1.999 && parts <= 5.001, `${seconds}: ${parts}`);
  }
  assert.equal(tickStep(0), 1);
});

test("labels", () => {
  assert.deepEqual(
    [tickLabel(0, 1), tickLabel(0.2, 0.1), tickLabel(1.5, 0.5), tickLabel(30, 10)],
    ["0", "200 ms", "1.5 s", "30 s"],
  );
});

test("durations read as in Python", () => {
  assert.deepEqual([0, 0.00042, 0.0123, 0.2144, 1.2, 12.34, 61, 3700].map(duration), [
    "0 ms",
    "0.42 ms",
    "12 ms",
    "214 ms",
    "1.20 s",
    "12.3 s",
    "1 min 1 s",
    "1 h 1 min",
  ]);
});
