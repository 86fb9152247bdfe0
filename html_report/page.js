// All is open as the page is written, so that it can be read without scripts: with them, what is folded begins closed.
for (const part of document.querySelectorAll("details")) part.open = false;
document.documentElement.classList.remove("folding");

// A schedule that several versions share is on the page once: it goes where somebody looks at it, and gets its buttons there.
const shared = new Map(), ready = new WeakSet();
for (const part of document.querySelectorAll(".clause > .schedule")) shared.set(part.parentElement.id, part);
for (const link of document.querySelectorAll(".same a")) shared.set(link.closest(".clause").id, shared.get(decodeURIComponent(link.hash.slice(1))));
let printing = false;
document.addEventListener("toggle", ({ target: clause }) => {
  const schedule = shared.get(clause.id), left = schedule?.parentElement;
  if (!schedule || !clause.open || printing) return;
  if (left !== clause) {
    const link = left.querySelector(".same a");
    link.textContent = clause.id;
    link.href = `#${clause.id}`;
    left.querySelector(".same").hidden = false;
    const command = schedule.querySelector(".made-by code");
    command.textContent = command.textContent.replace(/--profile \S+/, `--profile ${clause.dataset.profile}`);
    clause.append(schedule);
  }
  clause.querySelector(".same")?.setAttribute("hidden", "");
  if (!ready.has(schedule)) stepper(schedule);
  ready.add(schedule);
}, true);

// A link into closed parts opens them, and what it leads to.
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  requestAnimationFrame(() => target.scrollIntoView());
};
addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (link && link.hash === location.hash) reveal();
});
reveal();

// The contents say where one is.
const places = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) places.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting);
}, { rootMargin: "-20% 0px -70% 0px" });
for (const id of places.keys()) watch.observe(document.getElementById(id));

// What is folded is printed too, but for the schedules that nobody has opened.
addEventListener("beforeprint", () => {
  printing = true;
  for (const part of document.querySelectorAll("details:not(.clause, .all-steps)")) part.open = true;
});
addEventListener("afterprint", () => { printing = false; });
