// Writes the hashes of the sources and of the bundle, so that a test can tell whether it is stale.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const here = import.meta.dirname;
const page = join(here, "../src/scdn/studio/page");

function files(folder) {
  return readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

function sums(root, paths) {
  return Object.fromEntries(paths.map((path) => [
    relative(root, path).replaceAll("\\", "/"),
    createHash("sha256").update(readFileSync(path)).digest("hex"),
  ]));
}

const settings = ["index.html", "package.json", "package-lock.json", "tsconfig.json",
  "vite.config.ts", "manifest.mjs"].map((name) => join(here, name));
const sources = sums(here, [...settings, ...files(join(here, "public")), ...files(join(here, "src"))]);
const bundle = sums(page, files(page).filter((path) => !path.endsWith("manifest.json")));
writeFileSync(join(page, "manifest.json"), JSON.stringify({ sources, bundle }, null, 1) + "\n");
