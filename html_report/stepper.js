// A schedule that can be stepped through: its drawing shows where one is, the table beside it what the state is there.
const stepper = (example) => {
  const rows = [...example.querySelectorAll("tr[data-step]")];
  const [controls, beside] = document.getElementById("stepper").content.cloneNode(true).children;
  const drawing = example.querySelector(".diagram");
  example.prepend(controls);
  example.querySelector(".stage").append(beside);
  const slider = controls.querySelector("input"), output = controls.querySelector("output"), play = controls.querySelector("[data-go=play]");
  const parts = [...(drawing?.querySelectorAll("[data-step]") ?? [])];
  const changes = rows.map((row) => [...row.querySelectorAll("p")].map((change) => change.textContent.match(/^(?<field>[^:]*): (?<old>.*) → (?<now>.*)$/).groups));
  let at = rows.length, timer;

  const cell = (row, name, words) => {
    const made = row.appendChild(document.createElement(name));
    made.textContent = words;
    return made;
  };
  const showState = () => {
    const state = new Map();
    changes.slice(0, at).forEach((step, number) => step.forEach((change) => state.set(change.field, { ...change, isNew: number === at - 1 })));
    const body = beside.querySelector("tbody");
    body.replaceChildren();
    for (const { field, old, now, isNew } of [...state.values()].sort((a, b) => b.isNew - a.isNew)) {
      const row = body.appendChild(document.createElement("tr"));
      row.classList.toggle("changed", isNew);
      cell(row, "th", field).scope = "row";
      const value = cell(row, "td", "");
      if (isNew) value.append(`${old} → `);
      cell(value, "b", now);
    }
    if (!state.size) cell(cell(body, "tr", ""), "td", "nothing has happened yet");
    const row = rows[at - 1];
    beside.querySelector(".now").textContent = row
      ? `${at}. ${row.querySelector("code").textContent.replaceAll("_", " ")} ${row.querySelector("code + span")?.textContent ?? ""}`
      : "The initial state";
  };
  const showDrawing = () => {
    if (!drawing) return;
    for (const part of parts) {
      const number = Number(part.dataset.step);
      part.classList.toggle("later", number > at);
      part.classList.toggle("here", number === at);
    }
    const here = parts.find((part) => part.classList.contains("here"));
    if (!here) return drawing.scrollTo({ top: 0 });
    const box = here.getBoundingClientRect(), frame = drawing.getBoundingClientRect();
    drawing.scrollTo({
      top: drawing.scrollTop + box.top - frame.top - (frame.height - box.height) / 2,
      left: drawing.scrollLeft + (box.left + box.right) / 2 - (frame.left + frame.right) / 2,
    });
  };
  const go = (step) => {
    at = Math.max(0, Math.min(rows.length, step));
    example.classList.add("stepping");
    beside.hidden = false;
    slider.value = at;
    output.textContent = `step ${at} of ${rows.length}`;
    rows.forEach((row, number) => row.classList.toggle("here", number === at - 1));
    for (const [way, end] of [["first", 0], ["back", 0], ["on", rows.length], ["last", rows.length]]) {
      controls.querySelector(`[data-go=${way}]`).setAttribute("aria-disabled", String(at === end));
    }
    showState();
    showDrawing();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  const start = () => {
    if (at === rows.length) go(0);
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => { go(at + 1); if (at === rows.length) stop(); }, 900);
  };
  const ways = {
    first: () => go(0),
    back: () => go(at - 1),
    on: () => go(example.classList.contains("stepping") ? at + 1 : 1),
    last: () => go(rows.length),
    play: () => (timer ? stop() : start()),
  };
  const take = (way) => {
    if (way !== "play") stop();
    ways[way]();
  };
  slider.max = slider.value = rows.length;
  output.textContent = `${rows.length} steps`;
  controls.addEventListener("click", (event) => { const way = event.target.dataset.go; if (way) take(way); });
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  example.addEventListener("keydown", (event) => {
    if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
    const way = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", p: "play", P: "play" }[event.key];
    if (!way) return;
    event.preventDefault();
    take(way);
  });
  for (const part of [...parts, ...rows]) part.addEventListener("click", () => { stop(); go(Number(part.dataset.step)); });
};
