// The interactive part of a study's report.

import "./report.css";
import "./study/study.css";
import { element } from "../charts/dom";
import type { Spot } from "../charts/figure";
import type { StudyPage, StudyPanel } from "../charts/model";
import { read } from "../charts/read";
import { Cards } from "./study/cards";
import { cdf } from "./study/cdf";
import { choice, controls } from "./study/controls";
import { entries, type Entries, entryKey } from "./study/data";
import { heat } from "./study/heat";
import { Cells, horizontal, type Layout } from "./study/layout";
import { metric } from "./study/metric";
import { RunList } from "./study/runs";
import { anyTable } from "./study/table";

class Page {
  private readonly cells: Cells;
  private readonly list: RunList;
  private readonly layout: Layout;
  private readonly known: Entries[];
  private readonly cards = new Cards();
  /** The parts that depend on the layout besides the charts. */
  private readonly refreshes: (() => void)[] = [];

  constructor(
    private readonly study: StudyPage,
    private readonly host: HTMLElement,
  ) {
    this.cells = new Cells(study);
    this.list = new RunList(study);
    this.layout = { x: study.x, lines: study.lines, fixed: study.axes.map(() => 0) };
    this.known = study.panels.map(entries);
  }

  draw(): void {
    const { study, host } = this;
    this.metrics();
    if (study.axes.length > 1) this.heatMap();
    if (study.distributions.length) this.distributions();
    this.tablesOpen();
    const any = document.getElementById("any-table");
    if (any) anyTable(any, study, this.cells, this.known, (spot, panel) => this.open(spot, panel));
    let width = host.clientWidth;
    new ResizeObserver(() => {
      if (host.clientWidth === width) return;
      width = host.clientWidth;
      this.cards.resize();
    }).observe(host);
  }

  private refresh(): void {
    for (const one of this.refreshes) one();
    this.cards.refresh();
  }

  private metrics(): void {
    const { study, host } = this;
    const bands = `Means over runs, with their ${study.confidence} intervals.`;
    const others = study.axes.length - [this.layout.x, this.layout.lines].filter((key) => key !== null).length;
    const axes = others > 0 ? ` A metric's vertical axis is the same for all values of the other keys, unless their largest values differ more than ${study.mostApart}-fold.` : "";
    const bar = controls(study, this.layout, () => this.refresh());
    const cards = element("div", { class: "cards" });
    host.append(element("h2", {}, "Metrics"), element("p", { class: "how" }, `${bands} A point opens its runs.${axes}`), bar, cards);
    study.panels.forEach((panel, i) => {
      const title = [panel.title, ...(panel.unit ? [unit(panel.unit)] : [])];
      const figures = () => metric(study, this.cells, this.layout, panel, this.known[i] ?? new Map());
      this.cards.add(cards, panel.name, title, `${panel.formula}. ${panel.source}.`, figures, (spot) => this.open(spot, panel));
    });
  }

  private open(spot: Pick<Spot, "cell" | "of">, panel: StudyPanel | null): void {
    const known = panel ? this.known[this.study.panels.indexOf(panel)] : undefined;
    const entry = known?.get(entryKey(spot.cell, spot.of)) ?? null;
    this.list.open(this.cells.words(spot.cell) || "All runs", spot.cell, spot.of, panel, entry);
  }

  private heatMap(): void {
    const { study } = this;
    const y = study.lines ?? study.axes.findIndex((_, i) => i !== study.x);
    const chosen = { panel: 0, of: 0, x: study.x ?? 0, y, fixed: study.axes.map(() => 0) };
    const bar = element("div", { class: "choices" });
    const host = element("div", {});
    this.host.append(element("h2", {}, "Two keys at once"), bar, host);
    const panel = () => study.panels[chosen.panel] as StudyPanel;
    const fill = (): void => {
      const labels = study.axes.map((axis) => axis.label);
      const set = (change: () => void) => {
        change();
        fill();
        this.cards.refresh();
      };
      bar.replaceChildren(
        choice("metric", study.panels.map((one) => one.title), chosen.panel, (i) => set(() => Object.assign(chosen, { panel: i, of: 0 }))),
        ...(panel().of.length > 1 ? [choice("of", panel().of, chosen.of, (i) => set(() => (chosen.of = i)))] : []),
        choice("across", labels, chosen.x, (i) => set(() => Object.assign(chosen, { x: i, y: chosen.y === i ? chosen.x : chosen.y }))),
        choice("up", labels, chosen.y, (i) => set(() => Object.assign(chosen, { y: i, x: chosen.x === i ? chosen.y : chosen.x }))),
        ...study.axes.flatMap((axis, k) =>
          k === chosen.x || k === chosen.y ? [] : [choice(axis.label, axis.texts, chosen.fixed[k] ?? 0, (i) => set(() => (chosen.fixed[k] = i)))],
        ),
      );
    };
    fill();
    const figure = () => heat(study, this.cells, chosen, panel(), this.known[chosen.panel] ?? new Map(), panel().of[chosen.of] ?? "");
    this.cards.add(host, "heat", [], "", () => [figure()], (spot) => this.open(spot, panel()));
  }

  private distributions(): void {
    const { study, layout } = this;
    const axis = () => horizontal(study, layout);
    let at = Math.floor((axis()?.texts.length ?? 1) / 2);
    const bar = element("div", { class: "choices" });
    const cards = element("div", { class: "cards" });
    const how = "Share of flows, over all runs of a cell, with at most this value.";
    this.host.append(element("h2", {}, "Single flows"), element("p", { class: "how" }, how), bar, cards);
    const fill = (): void => {
      const shown = axis();
      at = Math.min(at, (shown?.texts.length ?? 1) - 1);
      const choose = (i: number) => {
        at = i;
        this.cards.refresh();
      };
      bar.replaceChildren(...(shown ? [choice(shown.label, shown.texts, at, choose)] : []));
    };
    fill();
    this.refreshes.push(fill);
    for (const one of study.distributions) {
      const figure = () => cdf(study, this.cells, layout, one, at);
      this.cards.add(cards, `cdf-${one.key}`, [one.title, unit(one.unit)], "Empirical distribution function", () => [figure()], (spot) => this.open(spot, null));
    }
  }

  /** Numbers of the tables open their runs, too. */
  private tablesOpen(): void {
    for (const button of document.querySelectorAll<HTMLButtonElement>("button.point")) {
      const { panel, cell, of } = button.dataset;
      button.addEventListener("click", () => {
        this.open({ cell: Number(cell), of: of ?? "" }, this.study.panels[Number(panel)] ?? null);
      });
    }
  }
}

function unit(name: string): HTMLElement {
  return element("span", { class: "unit" }, ` ${name}`);
}

const host = document.getElementById("study");
if (host) new Page(read<StudyPage>("series"), host).draw();
