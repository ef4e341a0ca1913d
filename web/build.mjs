// Bundles the pages. `report`: those of runs and studies, one script each. `page`: the web application, as modules whose names
// have the hash of their content.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";

const PACKAGE = "../python/dumbbell";
const [what] = process.argv.slice(2);
const COMMON = { bundle: true, minify: true, target: "es2022", legalComments: "inline", logLevel: "warning" };

if (what === "report") {
  const entryPoints = { report: "report/run.ts", study: "report/study.ts" };
  await build({ ...COMMON, entryPoints, format: "iife", outdir: `${PACKAGE}/report/assets` });
  process.exit();
}

/** The server gives `index.html` at `/`, and the rest, which a browser may keep for ever, below `/assets`. */
const PAGE = `${PACKAGE}/server/page`;
await mkdir(`${PAGE}/assets`, { recursive: true });

// "What if": the simulator and its worker, which are loaded when they are first needed.
const worker = await build({
  ...COMMON,
  entryPoints: { "whatif-worker": "ui/whatif/worker.ts" },
  format: "iife",
  entryNames: "[name]-[hash]",
  outdir: `${PAGE}/assets`,
  metafile: true,
});
const [workerName] = Object.keys(worker.metafile.outputs).map((name) => basename(name));
/** `tools/wasm` puts it there; without it the page says what is missing. */
const module = await readFile("simulator.wasm").catch(() => null);
const moduleName = module && `simulator-${createHash("sha256").update(module).digest("hex").slice(0, 8)}.wasm`;
if (module) await writeFile(`${PAGE}/assets/${moduleName}`, module);

const built = await build({
  ...COMMON,
  entryPoints: { ui: "ui/main.tsx" },
  format: "esm",
  splitting: true,
  jsx: "automatic",
  define: {
    "process.env.NODE_ENV": '"production"',
    "process.env.WHATIF_WORKER": JSON.stringify(`/assets/${workerName}`),
    "process.env.WHATIF_MODULE": JSON.stringify(moduleName ? `/assets/${moduleName}` : ""),
  },
  legalComments: "linked",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  outdir: `${PAGE}/assets`,
  metafile: true,
});

const [path, { cssBundle }] = Object.entries(built.metafile.outputs).find(([, output]) => output.entryPoint === "ui/main.tsx");
const asset = (name) => `/assets/${basename(name)}`;
// What the entry needs at once is fetched at once, not one import after another.
const needed = new Set();
const follow = (name) => {
  for (const { path: next, kind } of built.metafile.outputs[name].imports) {
    if (kind !== "import-statement" || needed.has(next)) continue;
    needed.add(next);
    follow(next);
  }
};
follow(path);
const preloads = [...needed].map((name) => `<link rel="modulepreload" href="${asset(name)}">`).join("\n");
await writeFile(
  `${PAGE}/index.html.new`,
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>dumbbell</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath d='M11 16h10' stroke='%230b6aa8' stroke-width='4'/%3E%3Ccircle cx='7' cy='16' r='6' fill='%230b6aa8'/%3E%3Ccircle cx='25' cy='16' r='6' fill='%230b6aa8'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${asset(cssBundle)}">
${preloads}
<script type="module" src="${asset(path)}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. All that it does, the command line does, too.</noscript>
</body>
</html>
`,
);
// A server that runs meanwhile has the old page with its files, or the new one with its.
await rename(`${PAGE}/index.html.new`, `${PAGE}/index.html`);
const made = new Set([...Object.keys(built.metafile.outputs).map((name) => basename(name)), workerName, moduleName]);
for (const name of await readdir(`${PAGE}/assets`)) if (!made.has(name)) await rm(`${PAGE}/assets/${name}`, { recursive: true });
