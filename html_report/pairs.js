// The action-pair matrix of the runs that are chosen, as a table of shaded cells.
const pairCounts = document.getElementById("pair-counts");
if (pairCounts) {
  const { names, runs } = JSON.parse(pairCounts.textContent);
  const place = document.querySelector(".pairs"), most = 24;
  const draw = (wanted) => {
    const times = new Map(), weight = new Map();
    for (const run of runs.filter((one) => Object.entries(wanted).every(([name, value]) => !value || one[name] === value))) {
      for (const [first, second, n] of run.pairs) {
        times.set(`${first} ${second}`, (times.get(`${first} ${second}`) ?? 0) + n);
        for (const one of [first, second]) weight.set(one, (weight.get(one) ?? 0) + n);
      }
    }
    const shown = [...weight].sort((a, b) => b[1] - a[1]).slice(0, most).map(([one]) => one);
    const largest = Math.log1p(Math.max(1, ...times.values()));
    const table = document.createElement("table");
    const add = (row, kind, words) => {
      const made = row.appendChild(document.createElement(kind));
      made.textContent = words;
      return made;
    };
    const words = (one) => names[one].replaceAll("_", " ");
    const head = table.createTHead().insertRow();
    add(head, "td", "");
    for (const second of shown) {
      const heading = add(head, "th", "");
      heading.scope = "col";
      add(heading, "span", words(second));
    }
    const body = table.createTBody();
    for (const first of shown) {
      const row = body.insertRow();
      add(row, "th", words(first)).scope = "row";
      for (const second of shown) {
        const n = times.get(`${first} ${second}`) ?? 0;
        const cell = add(row, "td", "");
        if (!n) continue;
        cell.style.setProperty("--share", `${Math.round(8 + 92 * Math.log1p(n) / largest)}%`);
        cell.dataset.tip = `${words(first)}, then ${words(second)}: ${n.toLocaleString("en")} times`;
        add(cell, "span", cell.dataset.tip).className = "sr";
      }
    }
    place.replaceChildren(table);
  };
  document.addEventListener("chosen", (event) => draw(event.detail));
}
