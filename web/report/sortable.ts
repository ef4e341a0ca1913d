// Tables whose rows a reader sorts by a column: a button in each head.

import { element } from "../charts/dom";

type Value = number | string | null;

/** Give the heads of all tables of class `sortable` a button each. Numbers are in `data-value`; text is sorted as it is. */
export function sortable(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    heads.forEach((head, column) => {
      const button = element("button", { type: "button" }, head.textContent ?? "");
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        const isNumber = head.classList.contains("n");
        // Of numbers the largest are wanted first.
        const falls = before === null ? isNumber : before === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falls ? "descending" : "ascending");
        sort(table, column, falls);
      });
    });
  }
}

/** Equal rows keep their order; those without a value are the last. */
function sort(table: HTMLTableElement, column: number, falls: boolean): void {
  const body = table.tBodies[0];
  if (!body) return;
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
  const sign = falls ? -1 : 1;
  rows.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return sign * compared(a.value, b.value);
  });
  body.append(...rows.map(({ row }) => row));
}

function valueOf(cell: HTMLTableCellElement | undefined): Value {
  const number = cell?.dataset["value"];
  if (number !== undefined) return Number(number);
  const text = cell?.textContent ?? "";
  return cell?.classList.contains("n") || text === "" || text === "–" ? null : text;
}

function compared(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
