import assert from "node:assert/strict";
import { test } from "node:test";
import { isImage, isLink } from "./media.js";

test("only raster images with their own data are shown", () => {
  for (const kind of ["png", "jpeg", "gif", "webp"]) {
    assert.ok(isImage(`data:image/${kind};base64,iVBORw0KGgo=`));
  }
  for (const src of [
    "data:image/svg+xml;base64,PHN2Zz4=",
    "data:text/html;base64,PHN2Zz4=",
    "data:image/png,plain",
    'data:image/png;base64,aa" onerror="alert(1)',
    "https://example.org/a.png",
    "javascript:alert(1)",
    "",
    undefined,
    7,
  ]) {
    assert.ok(!isImage(src), String(src));
  }
});

test("only https addresses are links", () => {
  assert.ok(isLink("https://example.org/a.pdf"));
  for (const href of ["http://example.org", "javascript:alert(1)", "data:text/html,x", "", null]) {
    assert.ok(!isLink(href), String(href));
  }
});
