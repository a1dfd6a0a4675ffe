/** What a model is sent, to be read: system text, messages, tools. */

/** @import { Asked, Part } from "./types" */
import { copyButton } from "../lib/copy.js";
import { fill, h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { tabs } from "../lib/tabs.js";
import { jsonTree, longText } from "../lib/tree.js";

const ROLES = { user: "user", model: "you said", call: "you called", result: "result" };

/** About so many tokens. @param {number} count */
const about = (count) => `~${count.toLocaleString("en")}`;

/**
 * @param {() => void} wantWire asks for the JSON
 */
export function requestPart(wantWire) {
  const read = h("div", { class: "agt-read", tabindex: "0", "aria-label": "What you are sent" });
  const wire = h("div", { class: "agt-wire" });
  let isWire = false;
  const pages = tabs(
    "What you are sent",
    [
      { id: "read", title: "To read", body: () => read },
      { id: "wire", title: "As JSON", body: () => wire },
    ],
    {
      changed(id) {
        isWire = id === "wire";
        if (isWire) wantWire();
      },
    },
  );
  const cost = h("span", { class: "agt-quiet agt-cost" });
  pages.bar.append(h("span", { class: "agt-grow" }), cost);
  let drawn = "";
  return {
    el: pages.el,
    /** @param {Asked} asked @param {string} version of what the JSON says */
    update(asked, version) {
      const now = JSON.stringify([asked, version]);
      if (now === drawn) return;
      drawn = now;
      const { system, tools, messages, total } = asked.tokens;
      cost.textContent = `${about(total)} tokens, estimated`;
      cost.title = `Estimated, four characters a token: system ${system}, tools ${tools}, messages ${messages}`;
      fill(read, systemPart(asked), messagesPart(asked), toolsPart(asked));
      // What is to be answered is in sight, however much came before it.
      requestAnimationFrame(() => {
        const last = /** @type {HTMLElement | null} */ (
          read.querySelector(".agt-turnline:last-child")
        );
        const end = last ? last.offsetTop + last.offsetHeight + 10 : 0;
        read.scrollTop = Math.max(0, end - read.clientHeight);
      });
      fill(wire, h("div", { class: "agt-empty" }, "Loading…"));
      if (isWire) wantWire();
    },
    /** @param {string} text @param {string} note */
    wire(text, note) {
      fill(
        wire,
        copyButton(() => text, "request"),
        jsonTree(text, { open: 2 }),
        note && h("div", { class: "agt-quiet" }, note),
      );
    },
  };
}

/** @param {string} title @param {number} tokens @param {import("../lib/types").Child} content */
function part(title, tokens, content) {
  return h(
    "section",
    { class: "agt-sent" },
    h(
      "div",
      { class: "agt-senthead" },
      h("span", { class: "agt-label" }, title),
      h("span", { class: "agt-quiet agt-weight" }, about(tokens)),
    ),
    content,
  );
}

/** @param {Asked} asked */
function systemPart(asked) {
  if (!asked.system) return null;
  return part(
    "System",
    asked.tokens.system,
    h("div", { class: "agt-words", dir: "auto" }, longText(asked.system)),
  );
}

/** @param {Asked} asked */
function messagesPart(asked) {
  return part("Messages", asked.tokens.messages, [
    asked.earlier > 0 &&
      h("div", { class: "agt-quiet" }, `${plural(asked.earlier, "earlier message")}: see the JSON`),
    h("div", { class: "agt-messages", role: "list" }, asked.messages.map(messageLine)),
  ]);
}

/** @param {Part} one */
function messageLine(one) {
  const isCode = one.role === "call" || one.role === "result";
  const bad = one.role === "result" && one.status !== "ok";
  return h(
    "div",
    { class: `agt-turnline agt-is-${one.role}${bad ? " agt-failed" : ""}`, role: "listitem" },
    h("span", { class: "agt-role" }, one.event || ROLES[one.role]),
    h(
      "div",
      { class: isCode ? "agt-words agt-mono" : "agt-words", dir: "auto" },
      one.name !== undefined && h("strong", null, one.name, " "),
      bad && h("span", { class: "agt-tag" }, one.status),
      bad && " ",
      longText(one.text),
    ),
  );
}

/** @param {Asked} asked */
function toolsPart(asked) {
  if (asked.tools.length === 0) return null;
  return part(
    plural(asked.tools.length, "tool"),
    asked.tokens.tools,
    asked.tools.map((tool) =>
      h(
        "details",
        { class: "agt-offeredtool" },
        h(
          "summary",
          null,
          h("span", { class: "agt-mono agt-offeredname" }, tool.name),
          h("span", { class: "agt-quiet" }, tool.about),
          h("span", { class: "agt-quiet agt-weight" }, about(tool.tokens)),
        ),
        jsonTree(tool.json, { open: 3 }),
      ),
    ),
  );
}
