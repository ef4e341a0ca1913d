// The interactive part of a study's report.

import "./report.css";
import "./study/study.css";
import { element } from "../charts/dom";
import { cdf } from "./study/cdf";
import { chart, type Drawing, hued } from "./study/chart";
import { choice, controls } from "./study/controls";
import { entries, type Entry, entryKey, type Panel, readStudy, type Study } from "./study/data";
import { heat } from "./study/heat";
import { Cells, type Column, horizontal, type Layout } from "./study/layout";
import { RunList } from "./study/runs";
import { pickable, type Spot } from "./study/spots";
import { DASHES, svg } from "./study/svg";

class Page {
  private readonly cells: Cells;
  private readonly list: RunList;
  private readonly layout: Layout;
  private readonly known: Map<string, Entry>[];
  private readonly redraws: (() => void)[] = [];

  constructor(
    private readonly study: Study,
    private readonly host: HTMLElement,
  ) {
    this.cells = new Cells(study);
    this.list = new RunList(study);
    this.layout = { x: study.x, lines: study.lines, fixed: study.axes.map(() => 0) };
    this.known = study.panels.map(entries);
  }

  draw(): void {
    const { study, host } = this;
    const redraw = () => this.redraws.forEach((one) => one());
    host.append(element("h2", {}, "Metrics"));
    const bands = `Means over runs, with their ${study.confidence} intervals.`;
    host.append(element("p", { class: "how" }, `${bands} A point opens its runs.`), controls(study, this.layout, redraw));
    const cards = element("div", { class: "cards" });
    host.append(cards);
    study.panels.forEach((panel, i) => {
      const title = panel.unit ? [panel.title, element("span", { class: "unit" }, ` ${panel.unit}`)] : [panel.title];
      this.card(cards, panel.name, title, `${panel.formula}. ${panel.source}.`, panel, (width) => {
        const palette = (column: Column) => this.palette(column, panel.of.length > 1);
        return chart(study, this.cells, this.layout, panel, this.known[i] ?? new Map(), palette, width);
      });
    });
    if (study.axes.length > 1) this.heatMap();
    if (study.distributions.length) this.distributions();
    this.tablesOpen();
    let width = host.clientWidth;
    new ResizeObserver(() => {
      if (host.clientWidth === width) return;
      width = host.clientWidth;
      redraw();
    }).observe(host);
  }

  /** A plot with its title, its legend and what can be opened in it. */
  private card(
    host: HTMLElement, key: string, title: (Node | string)[], note: string, panel: Panel | null, draw: (width: number) => Drawing,
  ): void {
    const legend = element("div", { class: "names" });
    const canvas = element("div", { class: "canvas" });
    const head = element("h3", {}, ...title);
    head.title = note;
    host.append(element("section", { class: "card", "data-plot": key }, head, legend, canvas));
    const redraw = (): void => {
      const { node, spots, columns } = draw(canvas.clientWidth || 480);
      canvas.replaceChildren(node);
      legend.replaceChildren(...(columns.length > 1 ? columns.map((column) => this.name(column, columns)) : []));
      pickable(node, canvas, spots, (spot) => this.open(spot, panel));
    };
    redraw();
    this.redraws.push(redraw);
  }

  private name(column: Column, columns: Column[]): HTMLElement {
    const several = new Set(columns.map((one) => one.hue)).size > 1 || columns.length > 1;
    const line = svg("line", { x1: 0, x2: 22, y1: 5, y2: 5, class: "curve", "stroke-dasharray": DASHES[column.dash % DASHES.length] ?? "" });
    const swatch = svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("g", this.palette(column, several), line));
    const shown = element("span", { class: "name" });
    shown.append(swatch, column.label);
    return shown;
  }

  private palette(column: Column, several: boolean): Record<string, string> {
    return hued(this.study, column, several || this.layout.lines !== null);
  }

  private open(spot: Spot, panel: Panel | null): void {
    const known = panel ? this.known[this.study.panels.indexOf(panel)] : undefined;
    const entry = known?.get(entryKey(spot.cell, spot.of)) ?? null;
    this.list.open(this.cells.words(spot.cell) || "All runs", spot.cell, spot.of, panel, entry);
  }

  private heatMap(): void {
    const { study } = this;
    const y = study.lines ?? study.axes.findIndex((_, i) => i !== study.x);
    const chosen = { panel: 0, of: 0, x: study.x ?? 0, y, fixed: study.axes.map(() => 0) };
    this.host.append(element("h2", {}, "Two keys at once"));
    const bar = element("div", { class: "choices" });
    const host = element("div", {});
    this.host.append(bar, host);
    const panel = () => study.panels[chosen.panel] as Panel;
    const fill = (): void => {
      const labels = study.axes.map((axis) => axis.label);
      const set = (change: () => void) => {
        change();
        fill();
        this.redraws.forEach((one) => one());
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
    const legend = element("div", { class: "names" });
    const canvas = element("div", { class: "canvas" });
    host.append(element("section", { class: "card heat", "data-plot": "heat" }, legend, canvas));
    const redraw = (): void => {
      const one = panel();
      const of = one.of[chosen.of] ?? "";
      const width = Math.min(canvas.clientWidth || 480, 900);
      const { node, spots } = heat(study, this.cells, chosen, one, this.known[chosen.panel] ?? new Map(), of, width);
      canvas.replaceChildren(node);
      pickable(node, canvas, spots, (spot) => this.open(spot, one));
    };
    redraw();
    this.redraws.push(redraw);
  }

  private distributions(): void {
    const { study, layout } = this;
    const axis = () => horizontal(study, layout);
    let at = Math.floor((axis()?.texts.length ?? 1) / 2);
    this.host.append(element("h2", {}, "Single flows"));
    const bar = element("div", { class: "choices" });
    const cards = element("div", { class: "cards" });
    this.host.append(element("p", { class: "how" }, "Share of the flows of all runs of a cell that have at most a value."), bar, cards);
    const fill = (): void => {
      const shown = axis();
      at = Math.min(at, (shown?.texts.length ?? 1) - 1);
      const redraw = (i: number) => {
        at = i;
        this.redraws.forEach((one) => one());
      };
      bar.replaceChildren(...(shown ? [choice(shown.label, shown.texts, at, redraw)] : []));
    };
    fill();
    this.redraws.push(fill);
    for (const one of study.distributions) {
      this.card(cards, `cdf-${one.key}`, [one.title, element("span", { class: "unit" }, ` ${one.unit}`)], "Empirical distribution function", null, (width) =>
        cdf(study, this.cells, layout, one, at, (column) => this.palette(column, study.of.length > 1), width),
      );
    }
  }

  /** Numbers of the tables open their runs, too. */
  private tablesOpen(): void {
    for (const button of document.querySelectorAll<HTMLButtonElement>("button.point")) {
      const { panel, cell, of } = button.dataset;
      button.addEventListener("click", () => {
        const spot = { x: 0, y: 0, row: 0, words: [], cell: Number(cell), of: of ?? "" };
        this.open(spot, this.study.panels[Number(panel)] ?? null);
      });
    }
  }
}

const host = document.getElementById("study");
if (host) new Page(readStudy("series"), host).draw();
