/* What the corpus test does in the page. `forms()` are the views, in the order of the cell. */
(() => {
  const forms = () => [...document.querySelectorAll(".jp-OutputArea .agt-form")];
  const inputs = (form) => [...form.querySelectorAll(".agt-set input, .agt-set textarea, .agt-set select")];

  // As if each control had been left without a change: no guard in the page may hide an edit.
  const touch = (form) => {
    let count = 0;
    for (const input of inputs(form)) {
      if (!input.isConnected) continue; // another one's event redrew it
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.dispatchEvent(new Event("change", { bubbles: true }));
      count += 1;
    }
    return count;
  };

  // What a reader sees as values: what stands in controls, and the states null and empty.
  const shown = (form) => {
    const values = [];
    for (const input of inputs(form)) {
      if (!input.checkVisibility({ visibilityProperty: true }) && input.type !== "radio") continue;
      if (input.type === "radio") {
        if (input.checked) values.push(input.value);
      } else if (input.classList.contains("agt-state")) {
        if (input.value === "null") values.push("null");
      } else if (input.tagName === "SELECT") {
        if (input.value !== "") values.push(input.selectedOptions[0].textContent);
      } else {
        values.push(input.value);
      }
    }
    for (const hint of form.querySelectorAll(".agt-set .agt-hint")) values.push(hint.textContent);
    return values;
  };

  window.corpusForms = {
    states: () =>
      forms().map((form) => ({
        title: form.querySelector(".agt-title").textContent,
        root: form.querySelector(".agt-root").dataset.state,
        json: form.querySelectorAll(".agt-set .agt-json").length,
        notices: form.querySelector(".agt-notices").textContent,
        height: form.getBoundingClientRect().height,
      })),
    touch: () => forms().reduce((sum, form) => sum + touch(form), 0),
    shown: () => forms().map(shown),
  };
})();
