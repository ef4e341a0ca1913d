// Bundles "What if" for a page without a server; `tools/whatif.py` makes one file of it.

import { build } from "esbuild";

const [folder] = process.argv.slice(2);
const COMMON = { bundle: true, minify: true, target: "es2022", legalComments: "inline", logLevel: "warning" };
await build({ ...COMMON, entryPoints: { worker: "ui/whatif/worker.ts" }, format: "iife", outdir: folder });
await build({
  ...COMMON,
  entryPoints: { page: "ui/whatif/alone.tsx" },
  format: "iife",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  outdir: folder,
});
