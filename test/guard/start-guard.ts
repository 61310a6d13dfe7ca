import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { canUnshare } from './network.js'

const run = fileURLToPath(new URL('./run.js', import.meta.url))
export const isPossible = canUnshare()
if (!isPossible)
  console.error('NOT RUN: the guard in a network namespace, which needs `unshare -rn` and `ip`')

/** Starts the run as a user would; resolves to its exit code and output. */
export function guard(...flags: string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [run, ...flags], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr })
    })
  })
}
