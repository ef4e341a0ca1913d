// The interactive part of a run's report.

import "uplot/dist/uPlot.min.css";
import "./report.css";
import { element } from "../charts/dom";
import { legend } from "../charts/legend";
import type { Plots } from "../charts/model";
import { read } from "../charts/read";
import { Theme } from "../charts/theme";
import { TimeAxis } from "../charts/time-axis";
import { controls } from "./controls";
import { draw, type Drawn } from "./panel";
import { sortable } from "./sortable";

function main(): void {
  const host = document.getElementById("plots");
  if (!host) return;
  const { durationS, groups, changes, panels, shownS } = read<Plots>("series");
  const shared = { groups, changes, axis: new TimeAxis(durationS), theme: new Theme() };
  const drawn: Drawn[] = [];
  const { bar, setTime } = controls(shared.axis);
  const flows = legend(groups, (group, visible) => drawn.forEach((panel) => panel.setVisible(group, visible)));
  host.append(element("div", { class: "bar" }, flows, bar));
  const onTime = (time: number | null): void => {
    setTime(time);
    for (const panel of drawn) panel.follow(time);
  };
  panels.forEach((panel, i) => drawn.push(draw(panel, shared, host, i === 0, onTime)));
  if (shownS) shared.axis.show(shownS[0], shownS[1]);

  const width = (): number => host.querySelector(".canvas")?.clientWidth ?? host.clientWidth;
  let known = width();
  const resize = (): void => drawn.forEach((panel) => panel.resize(known));
  new ResizeObserver(() => {
    if (width() === known) return;
    known = width();
    resize();
  }).observe(host);
  shared.theme.onChange(() => {
    known = width();
    resize();
    for (const panel of drawn) panel.redraw();
  });
}

function copyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset["copy"] ?? "")?.textContent ?? "");
      button.textContent = "copied";
    });
  }
}

main();
copyButtons();
sortable();
