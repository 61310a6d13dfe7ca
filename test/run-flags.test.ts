import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'

const SCRIPT = `
import { readRunFlags, wholeFlag } from ${JSON.stringify(new URL('./run-flags.js', import.meta.url).href)}
const values = readRunFlags({ cycles: { type: 'string', default: '10' }, quick: { type: 'boolean' } })
console.log(wholeFlag('cycles', values.cycles, 2), values.quick ?? false)
`

/** What it says, and its exit code. */
const told = (...flags: string[]) =>
  new Promise<string>((resolve) => {
    const args = ['--input-type=module', '--eval', SCRIPT, '--', ...flags]
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve(`${error?.code ?? 0}: ${stdout}${stderr}`),
    )
  })

it.each([
  [['--cycles', '20', '--quick'], '0: 20 true\n'],
  [[], '0: 10 false\n'],
  [['--cycles', '1'], '1: --cycles takes a whole number, at least 2\n'],
  [['--cycles='], '1: --cycles takes a whole number, at least 2\n'],
  [['--cycles', '2.5'], '1: --cycles takes a whole number, at least 2\n'],
  [
    ['1. x'],
    "1: Unexpected argument '1. x'. This command does not take positional arguments; the flags are: --cycles …, --quick\n",
  ],
  [['--cycle', '20'], "1: Unknown option '--cycle'; the flags are: --cycles …, --quick\n"],
  [
    ['--cycles', '--quick'],
    "1: Option '--cycles' argument is ambiguous; the flags are: --cycles …, --quick\n",
  ],
  [['--quick=1'], "1: Option '--quick' does not take an argument; the flags are: --cycles …, --quick\n"],
])('flags of a run: %j', async (flags, expected) => {
  expect(await told(...flags)).toBe(expected)
})
