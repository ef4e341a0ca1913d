// Charts with their titles and legends. A legend's entry shows and hides a curve in all charts.

import { element } from "../../charts/dom";
import type { Figure, Series, Spot } from "../../charts/figure";
import { SmallChart } from "../../charts/small-chart";
import { dashed, svg } from "../../charts/svg";

const NARROWEST = 480;
const WIDEST_HEAT = 900;

interface Card {
  /** Several stand side by side. */
  charts: { chart: SmallChart; canvas: HTMLElement }[];
  legend: HTMLElement;
  host: HTMLElement;
  describe: () => Figure[];
  onOpen: (spot: Spot) => void;
}

export class Cards {
  private readonly all: Card[] = [];
  private readonly hidden = new Set<string>();

  /** `title`: empty for a chart without legend. */
  add(host: HTMLElement, key: string, title: (Node | string)[], note: string, describe: () => Figure[], onOpen: (spot: Spot) => void): void {
    const legend = element("div", { class: "names", role: "group", "aria-label": "Curves shown in all plots" });
    const canvases = element("div", { class: "canvases" });
    const head = element("h3", {}, ...title);
    head.title = note;
    host.append(element("section", { class: title.length ? "card" : "card heat", "data-plot": key }, ...(title.length ? [head] : []), legend, canvases));
    const card: Card = { charts: [], legend, host: canvases, describe, onOpen };
    this.all.push(card);
    this.show(card);
  }

  /** Draw what is described now: the reader chose other keys. */
  refresh(): void {
    for (const card of this.all) this.show(card);
  }

  resize(): void {
    for (const { charts } of this.all) for (const { chart, canvas } of charts) chart.resize(widthOf(canvas));
  }

  private show(card: Card): void {
    const figures = card.describe();
    if (figures.length !== card.charts.length) {
      const canvases = figures.map(() => element("div", { class: "canvas" }));
      card.host.classList.toggle("several", figures.length > 1);
      card.host.replaceChildren(...canvases);
      card.charts = figures.map((figure, i) => {
        const canvas = canvases[i] as HTMLElement;
        return { chart: new SmallChart(figure, widthOf(canvas), canvas, card.onOpen), canvas };
      });
      for (const key of this.hidden) for (const { chart } of card.charts) chart.setVisible(key, false);
    } else card.charts.forEach(({ chart }, i) => chart.setData(figures[i] as Figure));
    this.name(card, [...new Map(figures.flatMap(({ series }) => series).map((one) => [one.key, one])).values()]);
  }

  private name({ legend }: Card, series: Series[]): void {
    legend.replaceChildren(...(series.length > 1 ? series.map((one) => this.entry(one)) : []));
  }

  private entry(series: Series): HTMLElement {
    const line = svg("line", { x1: 0, x2: 22, y1: 5, y2: 5, class: "curve", "stroke-dasharray": dashed(series.dash) });
    const style = series.color ? { style: `--light:${series.color.light};--dark:${series.color.dark}` } : {};
    const swatch = svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("g", { class: "series", ...style }, line));
    const made = element("button", { type: "button", class: "name", "data-key": series.key }, "");
    made.append(swatch, series.label);
    made.title = "Show or hide in all plots. Shift-click: show alone.";
    made.setAttribute("aria-pressed", String(!this.hidden.has(series.key)));
    made.addEventListener("click", (event) => (event.shiftKey ? this.alone(series.key) : this.toggle(series.key)));
    return made;
  }

  private toggle(key: string): void {
    this.set(key, this.hidden.has(key));
  }

  /** Show one only, or all again if it is the only one. */
  private alone(key: string): void {
    const keys = new Set(this.all.flatMap(({ legend }) => [...legend.querySelectorAll("button")].map((one) => one.dataset["key"] ?? "")));
    const isAlone = [...keys].every((one) => this.hidden.has(one) === (one !== key));
    for (const one of keys) this.set(one, isAlone || one === key);
  }

  private set(key: string, visible: boolean): void {
    if (visible) this.hidden.delete(key);
    else this.hidden.add(key);
    for (const { charts, legend } of this.all) {
      for (const { chart } of charts) chart.setVisible(key, visible);
      for (const button of legend.querySelectorAll("button")) {
        if (button.dataset["key"] === key) button.setAttribute("aria-pressed", String(visible));
      }
    }
  }
}

function widthOf(canvas: HTMLElement): number {
  const width = canvas.clientWidth || NARROWEST;
  return canvas.closest(".heat") ? Math.min(width, WIDEST_HEAT) : width;
}
