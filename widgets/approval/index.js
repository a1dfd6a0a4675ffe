/** A card that asks whether a call may run. */

/** @import { BaseData, RenderContext } from "../lib/types" */
import { answered, cardsMoved, countdown, guard } from "../lib/asked.js";
import { mount } from "../lib/cards.js";
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { connect } from "../lib/model.js";
import { seen } from "../lib/unseen.js";
import { argumentValue } from "../lib/values.js";

/**
 * @typedef {object} Argument
 * @property {string} name
 * @property {string} json
 * @property {string} note what is left out of the text
 * @property {"" | "default" | "changed" | "edited"} mark
 * @property {string} came JSON text of what the model sent, if that is something else
 */

/**
 * @typedef {BaseData & {
 *   state: "open" | "answered" | "expired" | "stopped",
 *   left: number | null,
 *   ended_at: number | null,
 *   tool: string,
 *   about: string,
 *   server: string | null,
 *   shown: string | null,
 *   path: string | null,
 *   rule: string,
 *   reason: string,
 *   arguments: Argument[],
 *   brief: string,
 *   form: string | null,
 *   refused: string,
 *   decision: { word: string, kind: string, note: string } | null,
 * }} Approval
 */

/** @param {Argument} one */
function remark(one) {
  if (one.mark === "default") return "default";
  if (one.mark === "edited") return "changed by you";
  if (one.mark === "changed") return one.came ? ["sent as ", seen(one.came)] : "added";
  return null;
}

/** @param {Argument[]} all */
function argumentList(all) {
  if (all.length === 0) return h("p", { class: "agt-quiet agt-noargs" }, "It takes no arguments.");
  return h(
    "div",
    { class: "agt-arguments", role: "list", "aria-label": "Arguments" },
    all.map((one) => {
      const note = remark(one);
      return h(
        "div",
        { class: `agt-argument agt-is-${one.mark || "sent"}`, role: "listitem" },
        h("span", { class: "agt-mono agt-argname" }, seen(one.name)),
        h(
          "div",
          { class: "agt-argvalue" },
          argumentValue(one.json),
          note && h("span", { class: "agt-remark" }, note),
          one.note && h("div", { class: "agt-quiet agt-cut" }, one.note),
        ),
      );
    }),
  );
}

/** @param {Approval} data */
function about(data) {
  return [
    data.shown && h("p", { class: "agt-shown" }, seen(data.shown)),
    data.path &&
      h(
        "div",
        { class: "agt-path" },
        h("span", { class: "agt-label" }, "Path"),
        h("span", { class: "agt-mono" }, seen(data.path)),
      ),
  ];
}

/** @param {Approval} data */
function rule(data) {
  return h(
    "div",
    { class: "agt-rule agt-quiet" },
    "Asked by ",
    h("span", { class: "agt-mono" }, seen(data.rule)),
    data.reason && [": ", seen(data.reason)],
  );
}

/** @param {RenderContext} context */
function render(context) {
  const { model } = context;
  let denying = false;
  /** @type {string | null} */
  let form = null;
  let takeAway = () => {};

  const button = (
    /** @type {string} */ text,
    /** @type {string} */ kind,
    /** @type {() => void} */ click,
  ) => h("button", { class: `agt-button ${kind}`, type: "button", on: { click } }, text);

  const title = h("span", { class: "agt-title agt-mono" });
  const server = h("span", { class: "agt-tag", hidden: true });
  const clock = countdown(() => view.data());
  const body = h("div", { class: "agt-asking" });
  const formPlace = h("div", { class: "agt-editing", hidden: true });
  const refused = h("div", { class: "agt-refused", role: "alert" });
  const announce = h("span", { class: "agt-sr", role: "status" });
  const editing = () => view.data().form !== null;

  const approve = button("Approve", "agt-primary", () => view.send("approve", {}));
  const session = button("Approve for this session", "", () =>
    view.send("approve", { remember: true }),
  );
  const edit = button("Edit arguments", "", () => view.send(editing() ? "leave" : "edit"));
  const deny = button("Deny…", "agt-deny", () => toggleDenying(true));
  const choices = h(
    "div",
    { class: "agt-choices" },
    approve,
    session,
    edit,
    h("span", { class: "agt-grow" }),
    deny,
  );

  const why = h("input", {
    class: "agt-input agt-why",
    type: "text",
    maxlength: "2000",
    id: uniqueId(),
    placeholder: "What should be done instead? (may stay empty)",
    autocomplete: "off",
    on: {
      keydown: (event) => {
        if (event.key === "Enter" && !event.isComposing) sendDenial();
        else if (event.key === "Escape") toggleDenying(false);
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
  });
  const sendDenial = () => view.send("deny", { reason: why.value });
  const reallyDeny = button("Deny", "agt-danger", sendDenial);
  const back = button("Back", "", () => toggleDenying(false));
  const denial = h(
    "div",
    { class: "agt-choices agt-denial", hidden: true },
    h("label", { for: why.id }, "Reason, for the model"),
    why,
    reallyDeny,
    back,
  );
  const toggleDenying = (/** @type {boolean} */ on) => {
    denying = on;
    draw(view.data());
    (on ? why : deny).focus();
  };

  const open = h(
    "section",
    { class: "agt-frame agt-asks" },
    h(
      "div",
      { class: "agt-head" },
      h("span", { class: "agt-status agt-running" }, "May this call run?"),
      title,
      server,
      h("span", { class: "agt-grow" }),
      clock.el,
    ),
    body,
    formPlace,
    refused,
    choices,
    denial,
  );
  const frozen = answered(() => [
    about(view.data()),
    argumentList(view.data().arguments),
    rule(view.data()),
  ]);

  const guarded = guard(open, () => draw(view.data()));

  let drawn = "";
  /** @param {Approval} data */
  const drawOpen = (data) => {
    setText(title, data.tool);
    open.setAttribute("aria-label", `Approval of ${data.tool}`);
    fill(server, data.server !== null && ["server ", seen(data.server)]);
    server.hidden = data.server === null;
    const now = JSON.stringify([
      data.arguments,
      data.about,
      data.shown,
      data.path,
      data.rule,
      data.form,
    ]);
    if (now !== drawn) {
      drawn = now;
      fill(
        body,
        data.about && h("p", { class: "agt-quiet agt-toolabout" }, seen(data.about)),
        about(data),
        data.form === null && argumentList(data.arguments),
        rule(data),
      );
    }
    if (data.form !== form) drawForm(data.form);
    setText(refused, data.refused);
    refused.hidden = !data.refused;
    const can = view.live() && !guarded.isOn();
    for (const one of [approve, session, edit, deny, why, reallyDeny]) one.disabled = !can;
    choices.hidden = denying;
    denial.hidden = !denying;
    session.hidden = data.form !== null;
    setText(approve, data.form === null ? "Approve" : "Approve these arguments");
    setText(edit, data.form === null ? "Edit arguments" : "Leave as they were");
    session.title = `And let further calls of ${data.tool} run under this rule, until the kernel restarts`;
  };

  /** @param {string | null} id */
  const drawForm = (id) => {
    takeAway();
    takeAway = () => {};
    const was = form;
    form = id;
    formPlace.hidden = id === null;
    if (id !== null) {
      const place = h("div");
      fill(formPlace, place);
      takeAway = mount(model, id, place);
    } else if (was !== null) edit.focus();
  };

  let wasOpen = false;
  /** @param {Approval} data */
  const draw = (data) => {
    const isOpen = data.state === "open";
    const closes = wasOpen && !isOpen;
    clock.update();
    if (isOpen) {
      drawOpen(data);
      if (!wasOpen) fill(view.body, announce, open);
      wasOpen = true;
      // A live region speaks of what changes after it is there.
      setTimeout(() => setText(announce, `${data.tool} waits for your approval`), 100);
    } else {
      const hadFocus = open.contains(document.activeElement);
      drawForm(null);
      frozen.update(data, data.tool, data.brief);
      if (!frozen.el.isConnected) fill(view.body, announce, frozen.el);
      setText(announce, `${data.tool}: ${data.decision?.word ?? ""}`);
      if (hadFocus) frozen.focus();
      wasOpen = false;
      if (closes) cardsMoved();
    }
  };

  /** @type {ReturnType<typeof connect<Approval>>} */
  const view = connect(context, "approval", {
    draw,
    dispose() {
      guarded.dispose();
      clock.dispose();
      takeAway();
    },
  });
  view.start();
  return () => view.dispose();
}

export default { render };
