import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { canUnshare } from './network.js'

const run = fileURLToPath(new URL('./run.js', import.meta.url))
export const isPossible = canUnshare()
// Not to be overlooked.
if (!isPossible)
  console.error(
    'NOT RUN: the guard in a network of its own, which needs `unshare -rn` and `ip` of this machine',
  )

/** The run as people start it: its exit code and what it says. */
export function guard(...flags: string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [run, ...flags], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr })
    })
  })
}
