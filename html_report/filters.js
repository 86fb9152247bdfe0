// Profile and environment, chosen once for all sections: what is of another one is hidden, what is of none stays.
const everywhere = document.querySelector(".everywhere");
const chosen = () => Object.fromEntries([...everywhere.querySelectorAll("[data-everywhere]")].map((choice) => [choice.dataset.everywhere, choice.value]));
const isWanted = (part, wanted) => Object.entries(wanted).every(([name, value]) => !value || !part.dataset[name] || part.dataset[name] === value);
const sorted = [...document.querySelectorAll("main [data-profile], main [data-environment]")];
const listed = sorted.filter((part) => part.matches("tbody, tr, details, figure, article, .run"));
const choose = () => {
  const wanted = chosen();
  for (const part of sorted) part.classList.toggle("other", !isWanted(part, wanted));
  for (const section of document.querySelectorAll("main > section")) {
    const parts = listed.filter((part) => section.contains(part));
    section.classList.toggle("nothing", parts.length > 0 && parts.every((part) => part.closest(".other")));
  }
  const isAll = Object.values(wanted).every((value) => !value);
  const shown = listed.filter((part) => !part.closest(".other")).length;
  everywhere.querySelector("output").textContent = isAll ? "" : `${shown.toLocaleString("en")} of ${listed.length.toLocaleString("en")} entries`;
  // A cell of the table stands back where the faults that are chosen break nothing.
  const faults = wanted.environment === "quiet" ? [] : wanted.environment?.split(",");
  for (const cell of document.querySelectorAll(".glance [data-sets]")) {
    const breaks = cell.dataset.sets.split(" ").some((set) => set === "quiet" || (set && set.split("+").every((fault) => faults?.includes(fault))));
    cell.classList.toggle("spared", Boolean(wanted.environment) && !breaks);
  }
  document.dispatchEvent(new CustomEvent("chosen", { detail: wanted }));
};
everywhere.hidden = false;
everywhere.addEventListener("change", (event) => { if (event.target.matches("[data-everywhere]")) choose(); });
everywhere.addEventListener("submit", (event) => event.preventDefault());

// Light and dark, if not as the system says.
everywhere.querySelector("[data-theme-choice]").addEventListener("change", (event) => {
  if (event.target.value) document.documentElement.dataset.theme = event.target.value;
  else delete document.documentElement.dataset.theme;
});

// The full table of verdicts has a filter of its own.
const filters = document.querySelector(".filters");
if (filters) {
  filters.hidden = false;
  const rows = [...document.querySelectorAll("#all-verdicts tbody")];
  const apply = () => {
    const wanted = [...filters.querySelectorAll("select")].map((choice) => [choice.dataset.filter, choice.value]);
    for (const row of rows) row.hidden = wanted.some(([name, value]) => value && row.dataset[name] !== value);
    const shown = rows.filter((row) => !row.hidden && !row.classList.contains("other"));
    filters.querySelector("output").textContent = `${shown.length} of ${rows.length}`;
  };
  filters.addEventListener("change", apply);
  document.addEventListener("chosen", apply);
  apply();
}
choose();
