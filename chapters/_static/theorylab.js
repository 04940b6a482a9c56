/* Sorting and filtering of the ledger, without any library. */
"use strict";

(function () {
  const text = (row, column) => row.cells[column].innerText.trim();

  function compare(a, b) {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  }

  function sortBy(table, column, header) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const sign = descending ? -1 : 1;
    [...body.rows]
      .sort((a, b) => sign * compare(text(a, column), text(b, column)))
      .forEach((row) => body.append(row));
  }

  function fits(row, input) {
    const wanted = input.value.trim().toLowerCase();
    const field = input.dataset.field;
    if (field) return !wanted || row.dataset[field].toLowerCase() === wanted;
    const words = `${row.dataset.words} ${row.textContent}`.toLowerCase();
    return wanted.split(/\s+/).every((word) => words.includes(word));
  }

  function filter(table, inputs, count) {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !inputs.every((input) => fits(row, input));
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${rows.length} claims`;
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sortBy(table, column, header));
    });
  }

  function makeFilterable(page) {
    const table = page.querySelector("table");
    const inputs = [...page.querySelectorAll(".tl-controls input, .tl-controls select")];
    const count = page.querySelector(".tl-count");
    const update = () => filter(table, inputs, count);
    inputs.forEach((input) => input.addEventListener("input", update));
    update();
  }

  // Pages opened from a file cannot fetch others for the summaries of search results.
  if (window.location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table.tl-sortable").forEach(makeSortable);
    document.querySelectorAll(".tl-ledger-page").forEach(makeFilterable);
  });
})();
