// Words of a mark, shown where the pointer or the finger is.
const tip = document.getElementById("tip");
const sayer = (target) => target.closest?.("[data-tip], figure svg :not(g)[role=img][aria-label]");
const show = (event) => {
  const at = sayer(event.target);
  tip.hidden = !at;
  if (!at) return;
  tip.textContent = at.dataset.tip ?? at.getAttribute("aria-label");
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y = event.clientY + 18 + height < innerHeight ? event.clientY + 18 : event.clientY - height - 12;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${y}px`;
};
for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, show, { passive: true });
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
for (const cell of document.querySelectorAll("a[data-tip]")) {
  cell.addEventListener("focus", () => {
    const box = cell.getBoundingClientRect();
    show({ target: cell, clientX: box.left, clientY: box.bottom - 12 });
  });
  cell.addEventListener("blur", () => { tip.hidden = true; });
}


// The command behind a number: shown where its button, or a number of its row, was clicked.
const asked = document.getElementById("command");
let asker;
const ask = (button) => {
  asker = button;
  asked.querySelector("code").textContent = button.dataset.command;
  asked.querySelector("[data-copy]").textContent = "Copy";
  asked.hidden = false;
  const box = button.getBoundingClientRect(), own = asked.getBoundingClientRect();
  asked.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
  asked.style.top = `${box.bottom + 8 + own.height < innerHeight ? box.bottom + 8 : Math.max(8, box.top - own.height - 8)}px`;
  asked.querySelector("[data-copy]").focus({ preventScroll: true });
};
const stopAsking = () => {
  if (asked.hidden) return;
  asked.hidden = true;
  asker?.focus({ preventScroll: true });
};
for (const button of document.querySelectorAll(".how")) button.hidden = false;
document.addEventListener("click", (event) => {
  const button = event.target.closest(".how") ?? event.target.closest("td.number")?.closest("tr").querySelector(".how");
  if (button) ask(button);
  else if (!asked.contains(event.target)) stopAsking();
});
asked.querySelector("[data-close]").addEventListener("click", stopAsking);
asked.querySelector("[data-copy]").addEventListener("click", async (event) => {
  const words = asked.querySelector("code");
  getSelection().selectAllChildren(words);
  try {
    await navigator.clipboard.writeText(words.textContent);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Selected";
  }
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") stopAsking(); });
