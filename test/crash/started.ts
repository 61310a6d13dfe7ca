import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const run = fileURLToPath(new URL('./run.js', import.meta.url))

/** The run as people start it: its exit code and what it says. */
export function crash(...flags: string[]): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [run, ...flags], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, text: stdout + stderr })
    })
  })
}
