#!/usr/bin/env node
"use strict";
// Starts the program of the package that npm chose for this platform.
const { spawnSync } = require("node:child_process");
const platform = `${process.platform}-${process.arch}`;
const name = `@andon/${platform}`;
let program;
try {
  program = require.resolve(`${name}/andon${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  const { optionalDependencies: built, version } = require("./package.json");
  console.error(`error: the program for ${platform} is not installed`);
  if (name in built) {
    console.error("  help: install it from where this package came from, without --omit=optional and --no-optional");
    console.error(`  help: packaging/build.sh npm PROGRAM OUT ${platform} builds its package, version ${version}`);
  }
  console.error("  help: or build it, in a clone of Andon's repository: cargo install --locked --path .");
  process.exit(1);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`error: ${program} could not be started: ${error.message}`);
  process.exit(1);
}
if (signal) process.kill(process.pid, signal);
else process.exit(status);
