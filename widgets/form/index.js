/** A form for a tool's arguments. Python holds them; this draws them and sends edits. */

/** @import { Context, Field, FormData, FormModel, Part, Plan } from "./types" */
/** @import { RenderContext } from "../lib/types" */
import { copyButton } from "../lib/copy.js";
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { prose } from "../lib/prose.js";
import { tabs } from "../lib/tabs.js";
import { longText } from "../lib/tree.js";
import { typed } from "./controls.js";
import { link } from "./link.js";
import { lineColumn, outcomeOf, scrollTogether } from "./outcome.js";
import { deliver, row } from "./row.js";

/** @param {RenderContext} context */
function render(context) {
  const model = /** @type {FormModel} */ (/** @type {unknown} */ (context.model));
  const wires = link((type, fields) => view.send(type, fields));
  const mac = navigator.platform.startsWith("Mac");

  // -- the parts, top to bottom --------------------------------------------------------------
  const title = h("span", { class: "agt-title agt-mono" });
  const about = h("div", { class: "agt-toolabout agt-quiet" });
  const further = h("div", { class: "agt-further agt-quiet", hidden: true });
  const clear = h(
    "button",
    {
      class: "agt-button agt-small",
      type: "button",
      title: "Unset every argument",
      on: { click: () => void wires.send(clear.textContent === "Undo" ? "undo" : "clear") },
    },
    "Clear",
  );
  const fields = h("fieldset", { class: "agt-set" }, h("legend", { class: "agt-sr" }, "Arguments"));
  const blocked = h("div", { class: "agt-blocked", hidden: true });
  const jsonFault = h("div", { class: "agt-faults", role: "alert", id: uniqueId() });
  const json = h("textarea", {
    class: "agt-input agt-json agt-whole",
    rows: 6,
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "arguments as JSON",
    "aria-describedby": jsonFault.id,
  });
  const reader = /** @type {Context} */ ({ seen: wires.seen, later: wires.later });
  const showJson = typed(reader, json, (text) => wires.send("json", { text }));
  const pages = tabs("How to edit", [
    { id: "fields", title: "Fields", body: () => h("div", null, blocked, fields) },
    {
      id: "json",
      title: "JSON",
      body: () =>
        h(
          "div",
          { class: "agt-jsonpage" },
          copyButton(() => json.value, "arguments"),
          json,
          jsonFault,
        ),
    },
  ]);
  const preview = h("div", { class: "agt-columns" });
  const run = h(
    "button",
    {
      class: "agt-button agt-primary",
      type: "button",
      title: mac ? "⌘ Enter" : "Ctrl+Enter",
      on: { click: () => start() },
    },
    "Run",
  );
  const stop = h(
    "button",
    {
      class: "agt-button agt-danger",
      type: "button",
      hidden: true,
      on: { click: () => void wires.send("stop") },
    },
    "Stop",
  );
  const status = h("span", { class: "agt-status agt-plainstatus", role: "status" });
  const waiting = h("span", { class: "agt-quiet", hidden: true }, "waiting for the kernel…");
  const runbar = h(
    "div",
    { class: "agt-runbar" },
    run,
    stop,
    status,
    h("span", { class: "agt-grow" }),
    waiting,
  );
  const outcome = h("div", { class: "agt-outcomebox", "aria-live": "polite" });

  const start = () => {
    if (!run.disabled && !run.hidden) void wires.send("run");
  };

  // -- the fields ----------------------------------------------------------------------------
  /** @type {Context} */
  const shared = {
    resolve: (field) => resolve(model.get("plan").defs, field),
    edit: wires.edit,
    later: wires.later,
    seen: wires.seen,
    left: new Set(),
    places: new Map(),
    refusals: new Map(),
  };
  /** @type {Part | undefined} */
  let root;
  /** @type {Plan | undefined} */
  let plan;
  const drawFields = (/** @type {FormData} */ data) => {
    const now = model.get("plan");
    if (now !== plan) {
      plan = now;
      root = row(shared, { ...now.root, required: true }, { depth: -1, path: () => [] });
      root.el.classList.add("agt-root");
      const field = shared.resolve(now.root);
      const empty =
        field.kind === "object" && !field.fields?.length && (field.quiet || !field.extra);
      fill(
        fields,
        h("legend", { class: "agt-sr" }, "Arguments"),
        empty && h("p", { class: "agt-empty" }, "This tool takes no arguments."),
        root.el,
      );
      if (field.kind === "json") pages.select("json");
    }
    shared.left = new Set(data.left);
    shared.places.clear();
    root?.update(data.tree, "");
    deliver(shared.places, data.faults);
    fields.disabled = !view.live() || !!data.json_fault;
    blocked.hidden = !data.json_fault;
  };
  fill(
    blocked,
    h(
      "span",
      null,
      "The JSON tab holds text that is not a JSON object. These are the last good arguments.",
    ),
    h(
      "button",
      { class: "agt-link", type: "button", on: { click: () => pages.select("json") } },
      "Back to it",
    ),
    h(
      "button",
      { class: "agt-link", type: "button", on: { click: () => void wires.send("discard") } },
      "Discard it",
    ),
  );

  // -- the rest ------------------------------------------------------------------------------
  let described = "";
  /** The first paragraph stands beside the name, what follows below. @param {string} text */
  const drawAbout = (text) => {
    if (text === described) return;
    described = text;
    const [first = "", ...rest] = text.trim().split(/\n\s*\n/);
    fill(about, longText(first));
    fill(further, prose(rest.join("\n\n")));
    further.hidden = rest.length === 0;
  };
  let previewed = "";
  const drawPreview = (/** @type {FormData} */ data) => {
    const now = JSON.stringify([data.came, data.gets, data.gets_note]);
    if (now === previewed) return;
    previewed = now;
    fill(
      preview,
      lineColumn("Arguments as they came", data.came),
      lineColumn("As the tool gets them", data.gets, data.gets_note),
    );
    scrollTogether([
      .../** @type {NodeListOf<HTMLElement>} */ (preview.querySelectorAll(".agt-lines")),
    ]);
  };

  let began = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;
  const drawRun = (/** @type {FormData} */ data) => {
    runbar.hidden = !data.can_run;
    run.disabled = data.running || !view.live();
    run.hidden = false;
    stop.hidden = !(data.running && data.can_stop);
    stop.disabled = !view.live();
    if (data.running && !ticking) {
      began = performance.now();
      ticking = setInterval(tick, 100);
    } else if (!data.running) {
      clearInterval(ticking);
      ticking = undefined;
    }
    status.className = "agt-status agt-plainstatus";
    if (data.running) {
      status.className = "agt-status agt-running";
      tick();
    } else {
      setText(status, readiness(data));
    }
  };
  const tick = () => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    setText(status, view.data().asking ? "asks you" : `running ${duration(seconds)}`);
  };

  let shownOutcome = "";
  const drawOutcome = (/** @type {FormData} */ data) => {
    const now = JSON.stringify(data.result);
    outcome.classList.toggle("agt-past", data.running);
    if (now === shownOutcome) return;
    shownOutcome = now;
    fill(outcome, data.result && outcomeOf(data.result));
  };

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let late;
  const watchEcho = () => {
    clearTimeout(late);
    waiting.hidden = true;
    if (wires.behind() && view.live())
      late = setTimeout(() => {
        waiting.hidden = !wires.behind();
      }, 1500);
  };

  const view = connect(context, "form", {
    /** @param {FormData} data */
    draw(data) {
      wires.note(data.seen);
      setText(title, data.tool.name);
      drawAbout(data.tool.about);
      drawFields(data);
      showJson(data.json);
      json.readOnly = !view.live();
      json.rows = Math.min(Math.max(data.json.split("\n").length, 6), 24);
      setText(jsonFault, data.json_fault);
      if (data.json_fault) json.setAttribute("aria-invalid", "true");
      else json.removeAttribute("aria-invalid");
      clear.disabled = !view.live();
      setText(clear, data.can_undo ? "Undo" : "Clear");
      drawPreview(data);
      drawRun(data);
      drawOutcome(data);
      watchEcho();
    },
    messages: {
      // An edit that changed nothing: what waited for its echo is drawn as the data has it.
      seen(message) {
        wires.note(message.seen);
        drawFields(view.data());
        watchEcho();
      },
      refused(message) {
        if (message.client === wires.client)
          shared.refusals.get(JSON.stringify(message.path))?.(message.text);
      },
    },
    dispose() {
      wires.flush();
      clearInterval(ticking);
      clearTimeout(late);
      model.off("change:plan", redraw);
    },
  });
  const redraw = () => view.data() && drawFields(view.data());
  model.on("change:plan", redraw);

  view.root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      if (!runbar.hidden) return start();
      // A view that draws this form inside itself may have something to send.
      wires.flush();
      view.root.dispatchEvent(new CustomEvent("agt-submit", { bubbles: true }));
    }
  });
  pages.bar.append(h("span", { class: "agt-grow" }), clear);
  view.body.append(
    h(
      "div",
      { class: "agt-frame" },
      h("div", { class: "agt-head" }, title, about, further),
      pages.el,
      preview,
      runbar,
      outcome,
    ),
  );
  view.start();
  return () => view.dispose();
}

/** What Run would do, in a few words.
 *
 * @param {FormData} data
 */
function readiness(data) {
  if (data.faults.some((fault) => fault.unreadable)) return "fix the JSON text first";
  const missing = data.faults.filter((fault) => fault.missing).length;
  const wrong = data.faults.length - missing;
  const parts = [];
  if (missing) parts.push(`${plural(missing, "required argument")} missing`);
  if (wrong) parts.push(`${plural(wrong, "argument")} ${wrong === 1 ? "does" : "do"} not fit`);
  return parts.join(", ");
}

/**
 * Follow a field's reference; what its place says wins.
 *
 * @param {Record<string, Field>} defs
 * @param {Field} field
 * @returns {Field}
 */
function resolve(defs, field) {
  let found = field;
  for (let steps = 0; found.kind === "ref" && steps < 50; steps += 1) {
    const target = defs[found.ref ?? ""];
    if (!target) break;
    const { kind: _kind, ref: _ref, type: _type, ...own } = found;
    const adds = own.nullable && !target.nullable && !["ref", "json"].includes(target.kind);
    found = { ...target, ...own };
    if (adds && target.type) found.type = `${target.type} or null`;
  }
  return found.kind === "ref" ? { ...found, kind: "json" } : found;
}

export default { render };
