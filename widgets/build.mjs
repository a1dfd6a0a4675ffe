// Bundles each widgets/<view>/index.js and index.css into agtools_nb/static/<view>.{js,css}.
// anywidget loads a view from a blob URL, where imports fail: each module must be whole.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, "..", "agtools_nb", "static");
const all = readdirSync(here)
  .filter((name) => existsSync(join(here, name, "index.js")))
  .sort();
// npm run build -- card batch: only these
const views = process.argv.length > 2 ? process.argv.slice(2) : all;

const { metafile } = await build({
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
  metafile: true,
});

for (const name of readdirSync(outdir)) {
  const view = name.replace(/\.(js|css)$/, "");
  if (view !== name && !all.includes(view)) rmSync(join(outdir, name));
}

for (const file of Object.keys(metafile.outputs).sort()) {
  const bytes = readFileSync(join(here, file));
  const zipped = gzipSync(bytes, { level: 9 }).length;
  console.log(`${file.replace("../", "").padEnd(36)} ${kb(bytes.length)}  ${kb(zipped)} gzipped`);
}

/** @param {number} bytes */
function kb(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(9);
}
