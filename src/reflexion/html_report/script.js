"use strict";
// Only conveniences: the page is complete without this script.
(() => {
  const table = document.getElementById("files");
  const tools = document.getElementById("tools");
  if (!table || !tools) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const words = document.getElementById("words");
  const outcome = document.getElementById("outcome");
  const count = document.getElementById("count");
  const known = rows.map((row) => ({
    row,
    words: row.cells[0].textContent.toLowerCase() + " " + row.cells[8].textContent.toLowerCase(),
    outcome: row.cells[1].dataset.value,
  }));

  const filter = () => {
    const wanted = words.value.trim().toLowerCase();
    let shown = 0;
    for (const item of known) {
      const fits = item.words.includes(wanted) && (!outcome.value || item.outcome === outcome.value);
      item.row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} files shown`;
  };

  const sort = (heading, column) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = heading.classList.contains("n");
    const key = (row) => {
      const value = row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      return numeric ? Number(value) : value;
    };
    const keyed = rows.map((row) => [key(row), row]);
    const compare = numeric ? (a, b) => a[0] - b[0] : (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
    keyed.sort((a, b) => (up ? compare(a, b) : compare(b, a)));
    body.append(...keyed.map(([, row]) => row));
  };

  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    if (!("sorts" in heading.dataset)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(heading, column));
  });

  // Browsers that do not yet open what a link leads into.
  const open = () => {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    const around = target && target.closest("details");
    if (!around || around.open) return;
    around.open = true;
    target.scrollIntoView();
  };

  words.addEventListener("input", filter);
  outcome.addEventListener("change", filter);
  addEventListener("hashchange", open);
  tools.hidden = false;
  filter();
  open();
})();
