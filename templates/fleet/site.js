"use strict";
// The table of runs: sorted, searched and filtered where it stands. What is chosen is kept in the
// address, so that it can be sent to someone.
(function () {
  const table = document.getElementById("runs");
  if (!table) return;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const grades = ["error", "warning", "info", "cannot-judge", "ok"];
  const get = (id) => document.getElementById(id);
  const rows = [...body.rows].map((tr, i) => ({
    tr, i, verdict: tr.className, rules: " " + tr.dataset.r + " ",
    text: (tr.textContent + " " + tr.dataset.r).toLowerCase(), keys: [],
  }));
  const chosen = { verdict: "", rule: "", q: "", sort: "", down: "" };
  const decoded = new URLSearchParams(location.hash.slice(1));
  for (const key in chosen) chosen[key] = decoded.get(key) || "";

  // A cell's value: numbers as numbers, the last of "a → b"; a row whose error takes three cells has none.
  function key(row, column) {
    if (column in row.keys) return row.keys[column];
    const cells = row.tr.cells;
    const wide = row.tr.querySelector(".why") ? 2 : 0;
    let value = "";
    if (column === 1) value = grades.indexOf(row.verdict);
    else if (!wide || column < 2 || column > 4) {
      const cell = cells[column > 4 ? column - wide : column];
      const text = (column === 0 || column === 3 ? cell.firstChild?.textContent || "" : cell.textContent).trim();
      const number = Number(text.split("→").pop().replace(/[,\s]/g, "").replace("−", "-"));
      value = text === "" ? "" : column === 0 || column === 3 || isNaN(number) ? text.toLowerCase() : number;
    }
    return (row.keys[column] = value);
  }

  // Empty cells stand last in both directions.
  function compare(column, sign) {
    return (a, b) => {
      const x = key(a, column), y = key(b, column);
      if (x === y) return a.i - b.i;
      if (x === "" || y === "") return x === "" ? 1 : -1;
      return (x < y ? -1 : 1) * sign;
    };
  }

  function show() {
    const words = chosen.q.toLowerCase().split(/\s+/).filter(Boolean);
    const order = chosen.sort === "" ? [...rows] : [...rows].sort(compare(Number(chosen.sort), chosen.down ? -1 : 1));
    let count = 0;
    const fragment = document.createDocumentFragment();
    for (const row of order) {
      const fits = (!chosen.verdict || row.verdict === chosen.verdict)
        && (!chosen.rule || row.rules.includes(" " + chosen.rule + " "))
        && words.every((word) => row.text.includes(word));
      row.tr.hidden = !fits;
      count += fits;
      fragment.append(row.tr);
    }
    body.append(fragment);
    heads.forEach((th, i) => {
      if (String(i) === chosen.sort) th.setAttribute("aria-sort", chosen.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    for (const button of document.querySelectorAll("[data-verdict]"))
      button.setAttribute("aria-pressed", String(button.dataset.verdict === chosen.verdict));
    get("search").value = chosen.q;
    get("rule").value = chosen.rule;
    get("sort").value = chosen.sort;
    get("shown").textContent = count === rows.length ? "" : `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} runs`;
    get("empty").hidden = count > 0;
    const kept = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value));
    history.replaceState(null, "", "#" + kept);
  }

  function set(change) { Object.assign(chosen, change); show(); }

  heads.forEach((th, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = th.textContent;
    th.replaceChildren(button);
    button.addEventListener("click", () => set({
      sort: String(i), down: chosen.sort === String(i) && !chosen.down ? "1" : "",
    }));
  });
  for (const button of document.querySelectorAll("[data-verdict]"))
    button.addEventListener("click", () => set({ verdict: button.dataset.verdict }));
  get("search").addEventListener("input", (event) => set({ q: event.target.value }));
  get("rule").addEventListener("change", (event) => set({ rule: event.target.value }));
  get("sort").addEventListener("change", (event) => set({ sort: event.target.value, down: "" }));
  get("reset").addEventListener("click", () => set({ verdict: "", rule: "", q: "" }));
  get("controls").hidden = false;
  show();
})();

// The map: which run and finding a cell is, by pointer or by arrow keys.
(function () {
  const box = document.getElementById("cells");
  if (!box) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const readout = document.getElementById("readout"), cursor = document.getElementById("cursor");
  const names = [...document.querySelectorAll(".map-rules li")];
  const grades = ["note", "warning", "error"];
  let x = 0, y = 0;

  function show(scroll) {
    const [name, href, cells] = data.runs[x];
    const cell = cells.find((found) => found[0] === y);
    const said = cell ? `${grades[cell[1]]}${cell[2] === null ? "" : ` since step ${cell[2].toLocaleString("en")}`}` : "not found";
    const count = `${cells.length} ${cells.length === 1 ? "finding" : "findings"}`;
    readout.replaceChildren();
    const run = document.createElement(href ? "a" : "strong");
    if (href) run.href = href;
    run.textContent = name;
    readout.append(run, ` · ${data.rules[y]}: ${said} · ${count} in this run${href ? "" : " · no report was written"}`);
    cursor.removeAttribute("hidden");
    cursor.setAttribute("x", x * data.column);
    cursor.setAttribute("y", y * data.row);
    names.forEach((li, i) => li.classList.toggle("on", i === y));
    if (scroll) {
      const left = x * data.column;
      if (left < box.scrollLeft) box.scrollLeft = left;
      else if (left + data.column > box.scrollLeft + box.clientWidth) box.scrollLeft = left + data.column - box.clientWidth;
    }
  }

  function at(event) {
    const area = box.firstElementChild.getBoundingClientRect();
    const column = Math.floor((event.clientX - area.left) / data.column);
    const row = Math.floor((event.clientY - area.top) / data.row);
    return column >= 0 && column < data.runs.length && row >= 0 && row < data.rules.length ? [column, row] : null;
  }
  function open() { if (data.runs[x][1]) location.href = data.runs[x][1]; }
  box.addEventListener("pointermove", (event) => {
    const place = at(event);
    if (place && (place[0] !== x || place[1] !== y || cursor.hasAttribute("hidden"))) { [x, y] = place; show(false); }
  });
  box.addEventListener("click", (event) => { if (at(event)) open(); });
  box.addEventListener("focus", () => show(true));
  box.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter") open();
    if (!(event.key in moves)) return;
    event.preventDefault();
    x = Math.min(data.runs.length - 1, Math.max(0, x + moves[event.key][0]));
    y = Math.min(data.rules.length - 1, Math.max(0, y + moves[event.key][1]));
    show(true);
  });
})();
