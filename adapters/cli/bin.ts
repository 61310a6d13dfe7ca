#!/usr/bin/env node
// Imports nothing before the check: an older Node may not be able to read the other modules.
const version = process.versions.node
const [major = 0, minor = 0] = version.split('.').map(Number)
if (major > 20 || (major === 20 && minor >= 19)) {
  void import('./program.js')
} else {
  process.stderr.write(`hookswitch needs Node 20.19 or later, and this is Node ${version}\n`)
  process.exitCode = 2
}

export {}
