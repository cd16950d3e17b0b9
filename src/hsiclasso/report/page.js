"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("features");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const picked = new Set();
  const say = (text) => { document.getElementById("said").textContent = text; };
  const shown = () => [...body.rows].filter((row) => !row.hidden);
  const feature = (element) => Number(element.dataset.f);
  const all = (f) => document.querySelectorAll(`[data-f="${f}"]`);

  // Marking: what is pointed at or has the focus, and what was picked.
  let pointed = null;
  const mark = (f) => all(f).forEach((one) =>
    one.classList.toggle("on", f === pointed || picked.has(f)));
  const point = (element) => {
    const found = element instanceof Element ? element.closest("[data-f]") : null;
    const next = found ? feature(found) : null;
    if (next === pointed) return;
    const before = pointed;
    pointed = next;
    if (before !== null) mark(before);
    if (next !== null) mark(next);
  };
  const pick = (f) => {
    if (!picked.delete(f)) picked.add(f);
    rows[f].querySelector(".pick").setAttribute("aria-pressed", String(picked.has(f)));
    document.getElementById("clear").hidden = !picked.size;
    mark(f);
    say(picked.size ? `${picked.size} picked` : "");
  };
  const clear = () => [...picked].forEach(pick);

  // Sorting: numbers by size, text by letters; what is missing comes last.
  const sort = (button) => {
    const column = Number(button.dataset.sort);
    const head = button.parentElement;
    const down = head.getAttribute("aria-sort") === "ascending";
    const sign = down ? -1 : 1;
    const key = (row) => data.rows[feature(row)][column];
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const order = data.numeric[column] ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return sign * order || feature(a) - feature(b);
    };
    table.tHead.querySelectorAll("th").forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...rows].sort(compare));
    say(`Sorted by ${data.titles[column]}, ${down ? "descending" : "ascending"}`);
  };

  const filter = (text) => {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row) => {
      const words = data.rows[feature(row)].join(" ").toLowerCase();
      row.hidden = !wanted.every((word) => words.includes(word));
    });
    say(`${shown().length} of ${rows.length} features`);
  };

  // A spreadsheet takes text that begins like this for a formula.
  const plain = (value) => {
    if (value === null) return "";
    if (typeof value !== "string") return String(value);
    return /^[=+\-@\t\r\n]/.test(value) ? "'" + value : value;
  };
  const lines = (cell, mark) => [data.titles, ...shown().map((row) => data.rows[feature(row)])]
    .map((line) => line.map((value) => cell(plain(value))).join(mark));
  const csv = () => lines((text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text, ",")
    .join("\r\n") + "\r\n";
  const tabs = () => lines((text) => text.replace(/[\t\r\n]+/g, " "), "\t").join("\n");

  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv" }));
    link.download = "features.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const copyBySelection = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const copy = async () => {
    const text = tabs();
    let done = true;
    try { await navigator.clipboard.writeText(text); } catch { done = copyBySelection(text); }
    say(done ? `${shown().length} rows copied` : "The browser does not allow copying");
  };

  const actions = { copy, csv: download, clear };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.dataset.sort !== undefined) return sort(button);
    if (button && actions[button.id]) return actions[button.id]();
    const found = event.target.closest("[data-f]");
    if (found && !String(getSelection())) pick(feature(found));
  });
  document.addEventListener("pointerover", (event) => point(event.target));
  document.addEventListener("focusin", (event) => point(event.target));
  document.getElementById("filter").addEventListener("input", (event) => filter(event.target.value));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return clear();
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (!(event.key in steps) || !event.target.classList.contains("pick")) return;
    event.preventDefault();
    const buttons = shown().map((row) => row.querySelector(".pick"));
    const next = buttons[buttons.indexOf(event.target) + steps[event.key]];
    if (next) next.focus();
  });
})();
