import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'

const SCRIPT = `
import { readRunFlags, parseWholeNumber } from ${JSON.stringify(new URL('./run-flags.js', import.meta.url).href)}
const values = readRunFlags({ cycles: { type: 'string', default: '10' }, quick: { type: 'boolean' } })
console.log(parseWholeNumber('cycles', values.cycles, 2), values.quick ?? false)
`

/** Exit code and output of a process with these flags. */
const run = (...flags: string[]) =>
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
])('the flags %j are parsed, or rejected with the list of known flags', async (flags, expected) => {
  expect(await run(...flags)).toBe(expected)
})
