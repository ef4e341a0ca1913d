// The drawing as a picture, and the scenario as a file for elsewhere.

import { get, problemOf } from "../kit/api";
import { toast } from "../kit/parts";
import type { DrawnNode, Exported } from "../kit/messages";
import { said } from "../network/words";
import { SIZE } from "../network/labels";
import { stage } from "../network/stage";
import { state } from "../document/store";

function save(name: string, content: Blob): void {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function shape(kind: DrawnNode["kind"], x: number, y: number): string {
  const half = SIZE / 2;
  if (kind === "router") return `<circle cx="${x}" cy="${y}" r="${half}"/>`;
  const height = kind === "switch" ? 30 : SIZE;
  return `<rect x="${x - half}" y="${y - height / 2}" width="${SIZE}" height="${height}" rx="8"/>`;
}

/** The drawing as SVG: on white, in the fonts of papers, of nodes, links and what is written at them. */
export function svg(): { text: string; width: number; height: number } | null {
  const drawing = state().document?.drawing;
  const at = stage()?.positions();
  if (!drawing || !at || drawing.nodes.length === 0) return null;
  const points = drawing.nodes.map((node) => at[node.name] ?? { x: 0, y: 0 });
  const [left, top] = [Math.min(...points.map((one) => one.x)) - 80, Math.min(...points.map((one) => one.y)) - 60];
  const [width, height] = [Math.max(...points.map((one) => one.x)) + 80 - left, Math.max(...points.map((one) => one.y)) + 80 - top];
  const label = (x: number, y: number, text: string, size = 12, weight = 400, fill = "#1a1c1f"): string =>
    `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${fill}" stroke="#fff" stroke-width="4" paint-order="stroke" text-anchor="middle">${escaped(text)}</text>`;
  const links = drawing.links.map((link) => {
    const [a, b] = link.between.map((name) => at[name] ?? { x: 0, y: 0 });
    if (!a || !b) return "";
    const lines = said(link);
    const texts = lines.map((line, i) => label((a.x + b.x) / 2, (a.y + b.y) / 2 + 4 - (lines.length > 1 ? 7 : 0) + i * 15, line, 11, 400, "#5f656c"));
    return `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" stroke="#4d5866" stroke-width="1.6"/>${texts.join("")}`;
  });
  const nodes = drawing.nodes.map((node, i) => {
    const { x, y } = points[i] ?? { x: 0, y: 0 };
    const address = node.addresses[0]?.replace(/\/\d+$/, "");
    return `<g fill="#fff" stroke="#4d5866" stroke-width="1.6">${shape(node.kind, x, y)}</g>${label(x, y + 38, node.name, 13, 600)}${address ? label(x, y + 53, address, 10.5, 400, "#5f656c") : ""}`;
  });
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}" font-family="'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"><rect x="${left}" y="${top}" width="${width}" height="${height}" fill="#fff"/>${links.join("")}${nodes.join("")}</svg>\n`;
  return { text, width, height };
}

async function png(drawn: { text: string; width: number; height: number }): Promise<Blob | null> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn.text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: drawn.width * 2, height: drawn.height * 2 });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Save the drawing or the text from the browser. */
export async function download(as: "svg" | "png" | "toml"): Promise<void> {
  const { path, document } = state();
  const stem = (path.split("/").at(-1) ?? "scenario").replace(/\.toml$/, "");
  if (as === "toml") return save(`${stem}.toml`, new Blob([document?.text ?? ""], { type: "application/toml" }));
  const drawn = svg();
  if (!drawn) return toast("There is nothing to save yet.");
  if (as === "svg") return save(`${stem}.svg`, new Blob([drawn.text], { type: "image/svg+xml" }));
  const picture = await png(drawn);
  if (picture) save(`${stem}.png`, picture);
}

/** A file for another tool, made by the server; what that tool can't say is listed. */
export async function exportAs(format: "miniedit" | "containerlab" | "python"): Promise<void> {
  try {
    const { name, text, notes } = await get<Exported>("/api/export", { path: state().path, as: format });
    save(name, new Blob([text]));
    if (notes.length > 0) toast({ what: `${name}: some of the scenario is left out`, why: notes.join("; "), hint: "", wrong: "", key: null, line: null, column: null, length: null });
  } catch (thrown) {
    toast(problemOf(thrown));
  }
}
