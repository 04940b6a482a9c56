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

  function filter(table, inputs, count) {
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = inputs.every((input) => {
        const wanted = input.value.toLowerCase();
        const column = input.dataset.column;
        const where = column ? text(row, Number(column)) : row.innerText;
        return where.toLowerCase().includes(wanted);
      });
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = `${shown} of ${table.tBodies[0].rows.length} claims`;
  }

  function enhance(table) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.addEventListener("click", () => sortBy(table, column, header));
    });
    const box = table.closest(".tl-ledger-page");
    if (!box) return;
    const inputs = [...box.querySelectorAll(".tl-controls input, .tl-controls select")];
    const count = box.querySelector(".tl-count");
    inputs.forEach((input) => input.addEventListener("input", () => filter(table, inputs, count)));
    filter(table, inputs, count);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table.tl-sortable").forEach(enhance);
  });
})();
