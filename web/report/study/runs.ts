// The runs behind a point, and how to repeat one with its records.

import { element } from "../../charts/dom";
import { digits } from "../../charts/numbers";
import type { StudyPage, StudyPanel } from "../../charts/model";
import { type Entry, valuesOf } from "./data";
import { doubt, told } from "./metric";

const MOST = 1000;

export class RunList {
  private readonly dialog = element("dialog", { class: "runs", "aria-label": "Runs" });

  constructor(private readonly study: StudyPage) {
    document.body.append(this.dialog);
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  /** Show the runs of a cell, with the values of a panel, if the page has them. */
  open(title: string, cell: number, of: string, panel: StudyPanel | null, entry: Entry | null): void {
    const values = panel ? valuesOf(panel, of) : new Map<number, number>();
    const all = this.study.runs[cell] ?? [];
    const runs = [...all].sort(([a], [b]) => (values.get(a) ?? 0) - (values.get(b) ?? 0) || a - b);
    const typical = runs[Math.floor(runs.length / 2)];
    const command = element("pre", { id: "again" });
    // A run on disk needs no repetition: its report is made of its records.
    const show = ([, id, , repetition]: StudyPage["runs"][number][number]) =>
      (command.textContent = this.study.records ? `dumbbell report ${this.study.records}${id}` : `${this.study.command} --cell ${cell} --repetition ${repetition}`);
    if (typical) show(typical);
    const head = ["Seed", "Run", "Verdict", ...(values.size && panel ? [panel.unit ? `${panel.title} (${panel.unit})` : panel.title] : []), ""];
    const rows = runs.slice(0, MOST).map((one) => {
      const [run, id, seed, , verdict] = one;
      const button = element("button", { type: "button" }, "command");
      button.addEventListener("click", () => show(one));
      const said = this.study.verdicts[verdict] ?? "";
      const value = values.size ? [element("td", { class: "n" }, digits(values.get(run) ?? NaN))] : [];
      return element("tr", {}, element("td", { class: "n" }, String(seed)), element("td", {}, element("code", {}, id)), element("td", { class: `judged ${said.split(" ")[0]}` }, said), ...value, element("td", {}, button));
    });
    const close = element("button", { type: "button", class: "close" }, "close");
    close.addEventListener("click", () => this.dialog.close());
    const table = element("table", {}, element("thead", {}, element("tr", {}, ...head.map((name, i) => element("th", i === 0 || (i === 3 && values.size) ? { class: "n" } : {}, name)))), element("tbody", {}, ...rows));
    const copy = element("button", { type: "button" }, "copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent ?? "");
      copy.textContent = "copied";
    });
    const left = all.length > MOST ? [element("p", { class: "beneath" }, `The first ${MOST} of ${all.length.toLocaleString("en")} runs; dumbbell query has all.`)] : [];
    this.dialog.replaceChildren(
      element("div", { class: "head" }, element("h3", {}, title), close),
      element("p", { class: "beneath" }, [of, ...(panel && entry ? told(entry, panel, this.study) : []), doubt(this.study, cell)].filter(Boolean).join(" · ")),
      element("div", { class: "command" }, command, copy),
      element("div", { class: "list" }, table),
      ...left,
    );
    this.dialog.showModal();
  }
}
