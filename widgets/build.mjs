// Bundles each widgets/<view>/index.js and index.css into agtools_nb/static/<view>.{js,css}.
// anywidget loads a view from a blob URL, where imports fail: each module must be whole.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, "..", "agtools_nb", "static");
const views = readdirSync(here)
  .filter((name) => existsSync(join(here, name, "index.js")))
  .sort();

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: views.flatMap((name) => [
    { in: `${name}/index.js`, out: name },
    {
      in: existsSync(join(here, name, "index.css")) ? `${name}/index.css` : "lib/base.css",
      out: name,
    },
  ]),
  outdir,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome111", "firefox115", "safari16.4"],
  legalComments: "none",
  logLevel: "warning",
  write: true,
  metafile: true,
}).then(async (result) => ({
  outputFiles: Object.keys(result.metafile.outputs).sort(),
}));

for (const name of readdirSync(outdir)) {
  const view = name.replace(/\.(js|css)$/, "");
  if (view !== name && !views.includes(view)) rmSync(join(outdir, name));
}

const { readFileSync } = await import("node:fs");
for (const file of outputFiles) {
  const bytes = readFileSync(join(here, file));
  const zipped = gzipSync(bytes, { level: 9 }).length;
  console.log(`${file.replace("../", "").padEnd(36)} ${kb(bytes.length)}  ${kb(zipped)} gzipped`);
}

/** @param {number} bytes */
function kb(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(9);
}
