// node build.mjs VERSION PROGRAM OUT PLATFORM: the package of one platform, and the launcher that chooses among all of them.
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const [version, program, out, platform] = process.argv.slice(2);
if (!PLATFORMS.includes(platform)) {
  console.error(`error: ${platform} is none of ${PLATFORMS.join(", ")}`);
  process.exit(2);
}
const here = dirname(fileURLToPath(import.meta.url));
const shared = {
  version,
  license: "MIT OR Apache-2.0",
  repository: { type: "git", url: "git+https://github.com/andon/andon.git" },
};
const write = (dir, value) => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "package.json"), `${JSON.stringify(value, null, 2)}\n`);
};

const [os, cpu] = platform.split("-");
const own = join(out, `andon-${platform}`);
const file = `andon${os === "win32" ? ".exe" : ""}`;
write(own, {
  name: `@andon/${platform}`,
  description: `The program of andon for ${platform}`,
  os: [os],
  cpu: [cpu],
  files: [file],
  ...shared,
});
copyFileSync(program, join(own, file));
chmodSync(join(own, file), 0o755);

const launcher = join(out, "andon");
write(launcher, {
  name: "andon",
  description: "A git-native circuit breaker for autonomous coding loops",
  bin: { andon: "andon.js" },
  files: ["andon.js"],
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(PLATFORMS.map((name) => [`@andon/${name}`, version])),
  ...shared,
});
copyFileSync(join(here, "andon.js"), join(launcher, "andon.js"));
chmodSync(join(launcher, "andon.js"), 0o755);
