// @ts-check
/**
 * The replay drill: events are lost, one job replays them, and its node is killed meanwhile. Each event must reach its
 * receiver once, in the order of its call, but for what was in flight at a kill.
 *
 * `node test/crash/replay-drill.js [--store sqlite] [--postgres URL] [--webhooks 50] [--events 3000] [--kills 2]`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseWholeNumber, readRunFlags } from '../support/run-flags.js'

const values = readRunFlags({
  store: { type: 'string', default: 'sqlite' },
  postgres: { type: 'string', default: '' },
  webhooks: { type: 'string', default: '50' },
  events: { type: 'string', default: '3000' },
  kills: { type: 'string', default: '2' },
})
const webhooks = parseWholeNumber('webhooks', values.webhooks)
const events = parseWholeNumber('events', values.events)
const kills = parseWholeNumber('kills', values.kills)
/** Requests in flight at most (`inFlight`). */
const IN_FLIGHT = 500

let status = 400
/** Times at which each event came, in order. @type {Map<string, { count: number, sequence: number }>} */
const received = new Map()
/** The last sequence number of each call. @type {Map<string, number>} */
const last = new Map()
let outOfOrder = 0
const receiver = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (part) => {
    body += part
  })
  request.on('end', () => {
    if (status === 200) take(request.url ?? '', body)
    response.writeHead(status).end()
  })
})

/** @param {string} path @param {string} body */
function take(path, body) {
  const { event_id: event, call_id: call, sequence } = JSON.parse(body)
  const entry = received.get(event)
  if (entry) {
    entry.count++
    return
  }
  received.set(event, { count: 1, sequence })
  const key = `${path} ${call}`
  if ((last.get(key) ?? 0) > sequence) outOfOrder++
  last.set(key, sequence)
}

const folder = mkdtempSync(join(tmpdir(), 'replay-drill-'))
const place = values.store === 'sqlite' ? join(folder, 'drill.db') : values.postgres
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const port = /** @type {import('node:net').AddressInfo} */ (receiver.address()).port

/** Runs a node; `onReport` may kill it. @param {string} mode @param {(line: any, kill: () => void) => void} onReport */
async function runNode(mode, onReport) {
  const program = fileURLToPath(new URL('./replay-node.js', import.meta.url))
  const args = [program, values.store, place, port, mode, webhooks, events].map(String)
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
  const reports = createInterface({
    input: /** @type {import('node:stream').Readable} */ (child.stdio[3]),
  })
  reports.on('line', (line) => onReport(JSON.parse(line), () => child.kill('SIGKILL')))
  const [code, signal] = await once(child, 'exit')
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the node exited with ${code ?? signal}`)
}

let lost = 0
let left = -1
let count = 0
await runNode('lose', (line) => {
  lost = line.lost
})
status = 200
const began = performance.now()
for (let run = 0; run <= kills; run++) {
  await runNode('replay', (line, kill) => {
    if (line.count !== undefined) count = line.count
    if (line.startMs !== undefined) console.log(`run ${run}: started after ${Math.round(line.startMs)} ms`)
    if (run < kills && received.size >= ((run + 1) * events) / (kills + 1)) kill()
    if (line.left !== undefined) left = line.left
  })
  console.log(`run ${run}: ${received.size} of ${events} events have come`)
}
const seconds = (performance.now() - began) / 1_000
receiver.close()
receiver.closeAllConnections()
rmSync(folder, { recursive: true })

const repeated = [...received.values()].filter((request) => request.count > 1)
const most = Math.max(0, ...repeated.map((entry) => entry.count))
console.log(
  `${lost} lost, ${count} selected, ${received.size} came, ${repeated.length} of them again (${most} times at most), ` +
    `${outOfOrder} out of order, ${left} left; ${Math.round(events / seconds)} a second with ${kills} kills`,
)
const isKept =
  lost === events &&
  received.size === events &&
  left === 0 &&
  outOfOrder === 0 &&
  repeated.length <= kills * IN_FLIGHT
console.log(isKept ? 'Each event came once, but for what was in flight at a kill.' : 'A promise was broken.')
process.exitCode = isKept ? 0 : 1
