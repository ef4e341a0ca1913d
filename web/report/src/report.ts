// The interactive part of a run's report.

import "uplot/dist/uPlot.min.css";
import "./report.css";
import { read } from "./data";
import { controls, legend } from "./legend";
import { bandPanel, kleinrockPanel } from "./model-panels";
import { curvePanel, type Drawn, lanePanel, linePanel } from "./panels";
import { onThemeChange } from "./theme";
import { TimeAxis } from "./time-axis";

function main(): void {
  const host = document.getElementById("plots");
  if (!host) return;
  const report = read("series");
  const axis = new TimeAxis(report.duration);
  const drawn: Drawn[] = [];
  const { bar, setTime } = controls(axis);
  const flows = legend(report.groups, (group, visible) => drawn.forEach((plot) => plot.setVisible(group, visible)));
  const head = document.createElement("div");
  head.className = "bar";
  head.append(flows, bar);
  host.append(head);
  const follow: ((time: number | null) => void)[] = [setTime];
  const onTime = (time: number | null) => follow.forEach((one) => one(time));
  report.panels.forEach((panel, i) => {
    const made = panel.views[0]?.curves.length ? curvePanel : linePanel;
    drawn.push(made(panel, report, axis, host, onTime));
    // The states stand beneath the goodput that they explain.
    if (i === 0 && report.bands) drawn.push(bandPanel(report.bands, report, axis, host, onTime));
  });
  if (report.events.length) drawn.push(lanePanel(report, axis, host, onTime));
  if (report.kleinrock) {
    const plot = kleinrockPanel(report.kleinrock, report, axis, host);
    drawn.push(plot);
    follow.push(plot.follow);
  }

  let width = host.clientWidth;
  new ResizeObserver(() => {
    if (host.clientWidth === width) return;
    width = host.clientWidth;
    for (const plot of drawn) plot.resize();
  }).observe(host);
  onThemeChange(() => {
    for (const plot of drawn) {
      plot.resize();
      plot.redraw();
    }
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
