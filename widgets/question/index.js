/** A card with a question that a tool asks. */

/** @import { BaseData, RenderContext } from "../lib/types" */
import { answered, cardsMoved, countdown, guard } from "../lib/asked.js";
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { connect } from "../lib/model.js";
import { seen } from "../lib/unseen.js";

/**
 * @typedef {BaseData & {
 *   state: "open" | "answered" | "expired" | "stopped",
 *   left: number | null,
 *   ended_at: number | null,
 *   tool: string | null,
 *   text: string,
 *   options: string[],
 *   multiple: boolean,
 *   allow_text: boolean,
 *   refused: string,
 *   decision: { word: string, kind: string, note: string } | null,
 * }} Question
 */

/** @param {RenderContext} context */
function render(context) {
  const name = uniqueId();
  const clock = countdown(() => view.data());
  const announce = h("span", { class: "agt-sr", role: "status" });
  const asker = h("span", { class: "agt-quiet agt-asker" });
  const text = h("legend", { class: "agt-question" });
  const list = h("div", { class: "agt-options" });
  const refused = h("div", { class: "agt-refused", role: "alert" });
  const own = h("textarea", {
    class: "agt-input agt-own",
    rows: 2,
    maxlength: "100000",
    on: {
      input: () => {
        if (own.value && !view.data().multiple) pick(-1);
        drawReady();
      },
      keydown: (event) => {
        if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
        // Enter answers, as in a chat; Shift+Enter is a new line.
        event.preventDefault();
        event.stopPropagation();
        if (own.value.trim()) send(); // whoever typed has seen the card: no guard
      },
    },
  });
  const ownLabel = h("label", { class: "agt-ownlabel agt-quiet" });
  const answer = h(
    "button",
    { class: "agt-button agt-primary", type: "button", on: { click: () => send() } },
    "Answer",
  );
  const decline = h(
    "button",
    { class: "agt-button", type: "button", on: { click: () => view.send("decline") } },
    "Decline to answer",
  );
  const set = h("fieldset", { class: "agt-set" }, text, list, ownLabel, own);
  const open = h(
    "section",
    { class: "agt-frame agt-asks", "aria-label": "Question" },
    h(
      "div",
      { class: "agt-head" },
      h("span", { class: "agt-status agt-running" }, "A question for you"),
      asker,
      h("span", { class: "agt-grow" }),
      clock.el,
    ),
    set,
    refused,
    h("div", { class: "agt-choices" }, answer, decline),
  );
  const frozen = answered(() =>
    view.data().options.length > 0
      ? h(
          "ul",
          { class: "agt-offered" },
          view.data().options.map((one) => h("li", null, seen(one))),
        )
      : h("p", { class: "agt-question" }, seen(view.data().text)),
  );

  const guarded = guard(open, () => draw(view.data()));

  /** @type {HTMLInputElement[]} */
  let boxes = [];
  /** @param {number} at @returns {void} */
  const pick = (at) => {
    for (const [index, box] of boxes.entries()) box.checked = index === at;
  };
  const chosen = () => boxes.flatMap((box, at) => (box.checked ? [at] : []));
  const send = () => {
    const typed = own.value.trim() ? own.value : null;
    view.send("answer", { options: chosen(), text: typed });
  };
  const drawReady = () => {
    const data = view.data();
    const something = chosen().length > 0 || own.value.trim() !== "" || data.multiple;
    const can = view.live() && !guarded.isOn();
    answer.disabled = !can || !something;
    decline.disabled = !can;
    set.disabled = !view.live();
    setText(
      answer,
      data.multiple && chosen().length === 0 && !own.value.trim() ? "None of them" : "Answer",
    );
  };

  let drawn = "";
  /** @param {Question} data */
  const drawOpen = (data) => {
    const now = JSON.stringify([data.text, data.options, data.multiple, data.allow_text]);
    if (now !== drawn) {
      drawn = now;
      fill(text, seen(data.text));
      boxes = data.options.map(() =>
        h("input", {
          type: data.multiple ? "checkbox" : "radio",
          name,
          on: {
            change: () => {
              if (!data.multiple) own.value = "";
              drawReady();
            },
          },
        }),
      );
      fill(
        list,
        data.options.map((one, at) =>
          h("label", { class: "agt-option" }, boxes[at], h("span", null, seen(one))),
        ),
      );
      list.hidden = data.options.length === 0;
      own.hidden = !data.allow_text;
      own.id ||= uniqueId();
      ownLabel.setAttribute("for", own.id);
      ownLabel.hidden = !data.allow_text || data.options.length === 0;
      setText(ownLabel, data.multiple ? "And in your own words" : "Or in your own words");
      if (ownLabel.hidden) own.setAttribute("aria-label", "Your answer");
    }
    setText(asker, data.tool === null ? "" : `from ${data.tool}`);
    setText(refused, data.refused);
    refused.hidden = !data.refused;
    drawReady();
  };

  let wasOpen = false;
  /** @param {Question} data */
  const draw = (data) => {
    const isOpen = data.state === "open";
    const closes = wasOpen && !isOpen;
    clock.update();
    if (isOpen) {
      drawOpen(data);
      if (!wasOpen) fill(view.body, announce, open);
      wasOpen = true;
      // A live region speaks of what changes after it is there.
      setTimeout(() => setText(announce, `A question for you: ${data.text}`), 100);
    } else {
      const hadFocus = open.contains(document.activeElement);
      frozen.update(data, "", data.text);
      if (!frozen.el.isConnected) fill(view.body, announce, frozen.el);
      setText(announce, data.decision?.word ?? "");
      if (hadFocus) frozen.focus();
      wasOpen = false;
      if (closes) cardsMoved();
    }
  };

  const dispose = () => {
    guarded.dispose();
    clock.dispose();
  };
  /** @type {ReturnType<typeof connect<Question>>} */
  const view = connect(context, "question", { draw, dispose });
  view.start();
  return () => view.dispose();
}

export default { render };
