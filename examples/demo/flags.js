// @ts-check
/** Parses the flags of the demo. */
import { parseArgs } from 'node:util'

/**
 * The flags of the demo.
 * @typedef {object} DemoFlags
 * @property {boolean} once play one round, then print a summary
 * @property {number} speed factor of the recorded speed; `Infinity` is as fast as possible
 * @property {number} port port of the API
 * @property {string} data path of the SQLite file
 * @property {string} [receiverLog] file for the receiver's requests, one JSON object per line
 */

/** The calls were recorded at eight a second, too many to read. */
const SPEED = 0.25

export const HELP = `npm start -- [--once] [--speed N] [--port N] [--data FILE] [--receiver-log FILE]

  --once              play one round of calls as fast as possible, then print a summary
  --speed N           play N times as fast as recorded (0.25; with --once as fast as possible)
  --port N            port of the API (8000); the receiver uses the next one
  --data FILE         store data in this SQLite file (demo.db)
  --receiver-log FILE write the receiver's requests to this file, one JSON object per line
  --help              print this text
`

/**
 * @param {string[]} argv
 * @returns {DemoFlags | 'help'}
 * @throws {Error} whose message is one sentence that names the flag
 */
export function parseFlags(argv) {
  const { values } = parse(argv)
  if (values.help) return 'help'
  const once = values.once ?? false
  const port = Number(values.port ?? 8000)
  if (!/^\d{1,5}$/.test(values.port ?? '8000') || port > 65_535) {
    throw new Error(`--port: must be an integer from 0 to 65535, not '${values.port}'`)
  }
  const speed = values.speed === undefined ? (once ? Number.POSITIVE_INFINITY : SPEED) : Number(values.speed)
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
    // The further sentences of Node's message concern positional arguments.
    const [sentence] = (thrown instanceof Error ? thrown.message : String(thrown)).split('. ')
    throw new Error(`${sentence}, see 'npm start -- --help'`)
  }
}
