// @ts-check
import { parseArgs } from 'node:util'

/**
 * What the demo was asked for.
 * @typedef {object} DemoFlags
 * @property {boolean} once one round, then a summary
 * @property {number} speed times real time; `Infinity`: as fast as it goes
 * @property {number} port of the API
 * @property {string} data file in which everything is kept
 * @property {string} [receiverLog] file for everything that the receiver got, one JSON object a line
 */

export const HELP = `npm start -- [--once] [--speed N] [--port N] [--data FILE] [--receiver-log FILE]

  --once              one round of calls as fast as it goes, then a summary
  --speed N           times real time (1; with --once as fast as it goes)
  --port N            of the API (8000); the receiver takes the next one
  --data FILE         keep everything in this file (demo.db)
  --receiver-log FILE write what the receiver got, one JSON object a line
  --help
`

/**
 * @param {string[]} argv
 * @returns {DemoFlags | 'help'}
 * @throws an error whose message is one sentence that names the flag
 */
export function parseFlags(argv) {
  const { values } = parse(argv)
  if (values.help) return 'help'
  const once = values.once ?? false
  const port = Number(values.port ?? 8000)
  if (!/^\d{1,5}$/.test(values.port ?? '8000') || port > 65_535) {
    throw new Error(`--port: must be an integer from 0 to 65535, not '${values.port}'`)
  }
  const speed = values.speed === undefined ? (once ? Number.POSITIVE_INFINITY : 1) : Number(values.speed)
  if (values.speed?.trim() === '' || !(speed > 0)) {
    throw new Error(`--speed: must be a number above 0, not '${values.speed}'`)
  }
  const receiverLog = values['receiver-log']
  const data = values.data ?? 'demo.db'
  return { once, speed, port, data, ...(receiverLog === undefined ? {} : { receiverLog }) }
}

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        once: { type: 'boolean' },
        speed: { type: 'string' },
        port: { type: 'string' },
        data: { type: 'string' },
        'receiver-log': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (thrown) {
    // Only the first sentence: the rest is advice about positional arguments.
    const [sentence] = (thrown instanceof Error ? thrown.message : String(thrown)).split('. ')
    throw new Error(`${sentence}, see 'npm start -- --help'`)
  }
}
