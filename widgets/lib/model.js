/** The tie between a view and its Python side. */

/** @import { BaseData, Message, Problem, RenderContext } from "./types" */
import { cardSlot } from "./cards.js";
import { fill, h } from "./dom.js";

/**
 * @template {BaseData} D
 * @typedef {object} Connection
 * @property {HTMLElement} root the view's element, of class `agt agt-<name>`
 * @property {HTMLElement} body where the view draws itself; notices go below it
 * @property {() => D} data
 * @property {() => boolean} live whether Python can hear
 * @property {(type: string, fields?: Record<string, unknown>) => void} send
 * @property {() => void} dispose
 */

/**
 * Connect a view to its model. `draw` is called for each new `data`, and again when the kernel
 * comes or goes (disable then what cannot work); call `start` once both ends are ready.
 *
 * @template {BaseData} D
 * @param {RenderContext} context
 * @param {string} name
 * @param {{
 *   draw: (data: D) => void,
 *   messages?: Record<string, (message: Message) => void>,
 *   dispose?: () => void,
 * }} view
 * @returns {Connection<D> & { start: () => void }}
 */
export function connect({ model, el }, name, view) {
  const body = h("div", { class: "agt-body" });
  const notices = h("div", { class: "agt-notices" });
  const cards = cardSlot(model);
  const root = h("div", { class: `agt agt-${name}` }, body, notices);
  // JupyterLab takes keys for commands of the notebook ("d d" on a focused menu would delete the
  // cell) unless an attribute says not to, on the very element that has the focus. It looks on the
  // way down, so this must come first: on the window. Ctrl+S and its like stay JupyterLab's;
  // Ctrl+Enter is ours, and so are the keys that edit text.
  /** @param {KeyboardEvent} event */
  const claimKey = (event) => {
    const { target } = event;
    if (!(target instanceof Element) || !root.contains(target)) return;
    const theirs = (event.ctrlKey || event.metaKey) && !/^(Enter|[acvxyz])$/i.test(event.key);
    target.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
  };
  window.addEventListener("keydown", claimKey, { capture: true });

  const data = () => /** @type {D} */ (model.get("data"));
  // anywidget hands out neither the model itself nor whether its comm lives: ask the manager.
  /** @type {{ comm_live?: boolean } | undefined} */
  let whole;
  const live = () =>
    whole ? whole.comm_live !== false : !el.classList.contains("jupyter-widgets-disconnected");
  /** @type {Connection<D>["send"]} */
  const send = (type, fields = {}) => {
    if (live()) model.send({ ...fields, type });
  };

  /** @type {Problem | null} */
  let problem = null;
  let printed = "";
  const drawNotices = () => {
    fill(
      notices,
      problem &&
        notice("problem", "alert", problem.text, problem.detail, () => {
          problem = null;
          send("dismiss");
          drawNotices();
        }),
      printed &&
        notice("printed", "status", "Printed", printed, () => {
          printed = "";
          drawNotices();
        }),
      !live() &&
        h(
          "div",
          { class: "agt-notice agt-offline", role: "status" },
          "Not connected: run the cell again.",
        ),
    );
  };

  const draw = () => {
    try {
      view.draw(data());
    } catch (error) {
      // One view that cannot draw must say so rather than stay blank.
      console.error(error);
      problem = { text: `This view could not be drawn: ${error}` };
    }
  };
  const changed = () => {
    problem = data().problem ?? null;
    draw();
    cards.update(data().cards);
    drawNotices();
  };
  /** @param {Message} message */
  const receive = (message) => {
    if (message?.type === "many") {
      for (const one of message.messages) receive(one);
    } else if (message?.type === "problem") {
      problem = { text: message.text, detail: message.detail };
      drawNotices();
    } else if (message?.type === "printed") {
      printed = (printed + message.text).slice(-8000);
      drawNotices();
    } else if (message?.type === "cards") {
      cards.update(message.cards);
    } else {
      view.messages?.[message?.type]?.(message);
    }
  };

  let wasLive = true;
  const checkLive = () => {
    if (live() === wasLive) return;
    wasLive = live();
    draw();
    drawNotices();
  };
  const findWhole = async () => {
    try {
      whole = await model.widget_manager?.get_model(data().id);
      checkLive();
    } catch {
      // A host without this: the class on the element has to do.
    }
  };

  return {
    root,
    body,
    data,
    live,
    send,
    start() {
      // Beside the view and not in it, whose rules are not for them.
      el.append(root, cards.el);
      wasLive = live();
      changed();
      model.on("change:data", changed);
      model.on("msg:custom", receive);
      model.on("comm_live_update", checkLive);
      findWhole();
      send("ready", { rev: data().rev });
    },
    dispose() {
      window.removeEventListener("keydown", claimKey, { capture: true });
      model.off("change:data", changed);
      model.off("msg:custom", receive);
      model.off("comm_live_update", checkLive);
      cards.dispose();
      view.dispose?.();
      root.remove();
    },
  };
}

/**
 * @param {string} kind
 * @param {string} role
 * @param {string} text
 * @param {string | undefined} detail
 * @param {() => void} dismiss
 */
function notice(kind, role, text, detail, dismiss) {
  return h(
    "div",
    { class: `agt-notice agt-notice-${kind}`, role },
    h(
      "div",
      { class: "agt-notice-head" },
      h("strong", null, text),
      h(
        "button",
        { class: "agt-button agt-small", type: "button", on: { click: dismiss } },
        "Dismiss",
      ),
    ),
    detail &&
      (kind === "printed"
        ? h("pre", { class: "agt-pre" }, detail)
        : h(
            "details",
            null,
            h("summary", null, "Details"),
            h("pre", { class: "agt-pre" }, detail),
          )),
  );
}
