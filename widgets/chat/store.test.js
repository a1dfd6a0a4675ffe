import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "./store.js";

const head = { title: "t", model: "m", busy: null, usage: [1, 2, false] };
const user = (n, text = `message ${n}`) => ({ n, k: "user", text });
const data = (rev, entries, more = {}) => ({
  rev,
  root: 1,
  lists: { 1: entries },
  earlier: 0,
  ...head,
  ...more,
});
const patch = (rev, entries, calls = []) => ({
  type: "patch",
  rev,
  changes: [{ list: 1, entries, calls }],
  ...head,
});
const texts = (store) => store.entries().map((entry) => entry.text);

test("what is new of a text is put at its end", () => {
  const store = new Store();
  store.replace(data(1, [user(2)]));
  assert.ok(store.patch(patch(2, [{ n: 3, k: "model", text: "He", calls: [], done: false }])));
  assert.ok(store.patch(patch(3, [{ n: 3, k: "model", more: "llo", calls: [], done: true }])));
  assert.deepEqual(texts(store), ["message 2", "Hello"]);
  assert.equal(store.entries()[1].done, true);
});

test("a message that was missed is noticed, one that came twice does no harm", () => {
  const store = new Store();
  store.replace(data(5, [user(2)]));
  const next = patch(6, [{ n: 2, k: "user", more: "!", calls: [] }]);
  assert.ok(store.patch(next));
  assert.ok(store.patch(next));
  assert.deepEqual(texts(store), ["message 2!"]);
  assert.equal(store.patch(patch(8, [])), false);
  store.replace(data(4, []));
  assert.deepEqual(texts(store), ["message 2!"]);
});

test("details stay until the call changes", () => {
  const store = new Store();
  const call = (status) => ({ i: 0, name: "add", status });
  store.replace(data(1, [{ n: 2, k: "model", text: "", calls: [call("running")] }]));
  store.change(1, 2, (entry) => ({
    ...entry,
    calls: [{ ...entry.calls[0], detail: { sent: "{}" } }],
  }));
  store.patch(patch(2, [], [{ n: 2, calls: [call("running")] }]));
  assert.deepEqual(store.entries()[0].calls[0].detail, { sent: "{}" });
  store.patch(patch(3, [], [{ n: 2, calls: [call("ok")] }]));
  assert.equal(store.entries()[0].calls[0].detail, undefined);
});

test("earlier messages come before, and stay when everything is sent again", () => {
  const store = new Store();
  store.replace(data(1, [user(5), user(6)], { earlier: 3 }));
  store.prepend({ root: 1, lists: { 1: [user(3), user(4)] }, earlier: 1 });
  assert.deepEqual(
    texts(store),
    [3, 4, 5, 6].map((n) => `message ${n}`),
  );
  store.replace(data(2, [user(5), user(6), user(7)], { earlier: 3 }));
  assert.deepEqual(
    texts(store),
    [3, 4, 5, 6, 7].map((n) => `message ${n}`),
  );
  assert.equal(store.earlier, 1);
  store.trim(2);
  assert.deepEqual(texts(store), ["message 6", "message 7"]);
  assert.equal(store.earlier, 4);
});

test("another branch begins anew", () => {
  const store = new Store();
  store.replace(data(1, [user(2), user(3)], { earlier: 4 }));
  store.replace({ ...data(2, []), root: 9, lists: { 9: [user(2)] } });
  assert.deepEqual(texts(store), ["message 2"]);
  assert.equal(store.earlier, 0);
});
