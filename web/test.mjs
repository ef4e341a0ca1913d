// Tests of what needs no browser: bundled by esbuild, run by Node's own test runner.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const out = await mkdtemp(join(tmpdir(), "dumbbell-web-"));
try {
  const names = (await readdir("tests")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: names.map((name) => join("tests", name)),
    bundle: true,
    platform: "node",
    format: "esm",
    jsx: "automatic",
    outExtension: { ".js": ".mjs" },
    outdir: out,
    logLevel: "warning",
    // React is made for older module systems: it asks for its parts while it runs.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const { status, stdout } = spawnSync(process.execPath, ["--test", ...files], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) process.stdout.write(stdout);
  process.exitCode = status ?? 1;
} finally {
  await rm(out, { recursive: true });
}
