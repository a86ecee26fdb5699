"use strict";
document.documentElement.classList.add("scripted");

// A modulo schedule: the routes of the operands of the operation that is looked at.
for (const figure of document.querySelectorAll("figure.focusable")) {
  const told = figure.nextElementSibling;
  const show = (operation) => {
    for (const route of figure.querySelectorAll(".route")) {
      route.classList.toggle("shown", operation !== null && route.dataset.to === operation.dataset.op);
    }
    told.textContent = operation === null ? "" : operation.getAttribute("aria-label");
  };
  for (const operation of figure.querySelectorAll("[data-op]")) {
    operation.addEventListener("mouseenter", () => show(operation));
    operation.addEventListener("focus", () => show(operation));
    operation.addEventListener("mouseleave", () => show(null));
    operation.addEventListener("blur", () => show(null));
  }
}

// A reduction: step by step, by buttons and arrow keys.
for (const stepper of document.querySelectorAll(".stepper")) {
  const last = Number(stepper.dataset.steps);
  const output = stepper.querySelector("output");
  let step = 0;
  const go = (to) => {
    step = Math.min(last, Math.max(0, to));
    for (const element of stepper.querySelectorAll("[data-gone]")) {
      element.classList.toggle("gone", Number(element.dataset.gone) <= step);
      element.classList.toggle("now", step > 0 && Number(element.dataset.gone) === step);
    }
    for (const element of stepper.querySelectorAll("[data-made]")) {
      element.classList.toggle("shown", Number(element.dataset.made) <= step);
    }
    let said = "nothing is reduced yet";
    for (const item of stepper.querySelectorAll("li[data-step]")) {
      const now = Number(item.dataset.step) === step;
      if (now) { item.setAttribute("aria-current", "step"); said = item.textContent; }
      else { item.removeAttribute("aria-current"); }
    }
    output.textContent = `step ${step} of ${last}: ${said}`;
  };
  for (const button of stepper.querySelectorAll("[data-go]")) {
    const where = button.dataset.go;
    button.addEventListener("click", () =>
      go(where === "first" ? 0 : where === "last" ? last : step + Number(where)));
  }
  stepper.querySelector(".controls").addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (move) { event.preventDefault(); go(step + move); }
  });
}

// On paper everything is open.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) { details.open = true; }
});
