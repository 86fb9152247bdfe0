"use strict";
// Words of a mark, shown where the pointer or the finger is.
const told = document.getElementById("told");
const sayer = (target) => target.closest?.("[data-told], figure [aria-roledescription$='mark'][aria-label], figure [aria-roledescription='point'][aria-label]");
const show = (event) => {
  const at = sayer(event.target);
  told.hidden = !at;
  if (!at) return;
  told.textContent = at.dataset.told ?? at.getAttribute("aria-label");
  const { width, height } = told.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y = event.clientY + 18 + height < innerHeight ? event.clientY + 18 : event.clientY - height - 12;
  told.style.left = `${Math.max(8, x)}px`;
  told.style.top = `${y}px`;
};
for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, show, { passive: true });
document.addEventListener("scroll", () => { told.hidden = true; }, { passive: true });
for (const cell of document.querySelectorAll("a[data-told]")) {
  cell.addEventListener("focus", () => {
    const box = cell.getBoundingClientRect();
    show({ target: cell, clientX: box.left, clientY: box.bottom - 12 });
  });
  cell.addEventListener("blur", () => { told.hidden = true; });
}

// A link into a closed part opens it.
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const around = target && target.closest("details");
  if (around && !around.open) {
    around.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", reveal);
reveal();

// A row of the steps points out its part of the drawing, and the other way round.
for (const example of document.querySelectorAll(".counterexample")) {
  const drawing = example.querySelector(".diagram");
  if (!drawing) continue;
  const pick = (step) => {
    drawing.classList.toggle("picks", step !== undefined);
    for (const part of drawing.querySelectorAll("[data-step]")) part.classList.toggle("picked", part.dataset.step === step);
  };
  for (const row of example.querySelectorAll("tr[data-step]")) {
    row.addEventListener("pointerenter", () => pick(drawing.querySelector(`[data-step="${row.dataset.step}"]`) ? row.dataset.step : undefined));
    row.addEventListener("pointerleave", () => pick(undefined));
  }
}

// Filters of the full table of verdicts.
const filters = document.querySelector(".filters");
if (filters) {
  filters.hidden = false;
  const rows = [...document.querySelectorAll("#all-verdicts tbody")];
  const apply = () => {
    const wanted = [...filters.querySelectorAll("select")].map((choice) => [choice.dataset.filter, choice.value]);
    for (const row of rows) row.hidden = wanted.some(([name, value]) => value && row.dataset[name] !== value);
    filters.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  filters.addEventListener("change", apply);
  apply();
}

// The contents say where one is.
const places = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) places.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting);
}, { rootMargin: "-20% 0px -70% 0px" });
for (const id of places.keys()) watch.observe(document.getElementById(id));

// What is folded is printed too.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
