// @ts-check
/** The load of `--rate` from the fakes of the testkit: a recorded call, again and again under other ids and times. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { measureCalls } from './measure.js'
import { accountOf, built, startReceiver, startService } from './service.js'
import { waitUntil } from './wait-until.js'

const RECORDINGS = new URL('../../examples/switches/recordings/', import.meta.url)
const textOf = (/** @type {string} */ name) =>
  gunzipSync(readFileSync(new URL(name, RECORDINGS))).toString('latin1')

/**
 * A recorded call: its messages as they were received, and the ids in them.
 *
 * @typedef {object} RecordedCall
 * @property {readonly string[]} messages
 * @property {readonly string[]} ids
 * @property {(message: string) => number} timeOf Unix milliseconds
 * @property {(message: string, ms: number) => string} shift moves all times
 * @property {string} [banner]
 */

/** The first call of the recorded Asterisk. */
const ASTERISK_IDS = ['1795174204.0', '1795174204.1']
const CHANNELS = ['PJSIP/1001-00000000', 'PJSIP/2001-00000001']

/** The ids of the bridges that a message names. @param {string} message */
const bridgesIn = (message) =>
  [...message.matchAll(/(?:BridgeUniqueid: |"bridge":\{"id":")([\w-]{36})/g)].map(([, id]) => String(id))

/**
 * The messages of the call, and those of its bridge.
 *
 * @param {readonly string[]} messages
 */
function asteriskCall(messages) {
  const isOfLeg = (/** @type {string} */ message) => CHANNELS.some((name) => message.includes(name))
  const bridges = [...new Set(messages.filter(isOfLeg).flatMap(bridgesIn))]
  return {
    messages: messages.filter((message) => isOfLeg(message) || bridges.some((id) => message.includes(id))),
    ids: [...ASTERISK_IDS, ...CHANNELS, ...bridges],
  }
}

/** @returns {RecordedCall} */
function amiCall() {
  const [banner = '', ...blocks] = textOf('asterisk-ami.txt.gz').split(/(?<=^[^\r\n]*\r\n)|(?<=\r\n\r\n)/)
  // A manager with `read = call,dialplan,agent` receives neither of the two without more configuration.
  const messages = blocks.filter((text) => /^Timestamp: /m.test(text) && !/^Event: (CEL|Cdr)\r/.test(text))
  return {
    ...asteriskCall(messages),
    banner,
    timeOf: (message) => Number(/^Timestamp: (\S+)/m.exec(message)?.[1]) * 1_000,
    shift: (message, ms) =>
      message.replace(
        /^(Timestamp: )(\S+)/m,
        (_, name, seconds) => name + (Number(seconds) + ms / 1_000).toFixed(6),
      ),
  }
}

/** @returns {RecordedCall} */
function ariCall() {
  return {
    ...asteriskCall(textOf('asterisk-ari.ndjson.gz').split(/(?<=\n)/)),
    timeOf: (message) => Date.parse(JSON.parse(message).timestamp),
    shift: (message, ms) =>
      message.replaceAll(/("(?:timestamp|creationtime)":")([^"]+)/g, (_, name, time) => {
        return name + new Date(Date.parse(time) + ms).toISOString().replace('Z', '+0000')
      }),
  }
}

/** @returns {RecordedCall} */
function freeswitchCall() {
  const truth = JSON.parse(readFileSync(new URL('freeswitch-expected.json', RECORDINGS), 'utf8'))
  const ids = truth.recordings[0].calls[0].legs.map((/** @type {{ uuid: string }} */ { uuid }) => uuid)
  const text = textOf('freeswitch-esl-json.txt.gz')
  const messages = [
    ...text.matchAll(
      /Content-Length: \d+\nContent-Type: text\/event-json\n\n(\{.*?\})(?=Content-Length|$)/gs,
    ),
  ]
    .map(([, body]) => String(body))
    .filter(
      (body) => body.startsWith('{"Event-Name":"CHANNEL_') && ids.includes(JSON.parse(body)['Unique-ID']),
    )
  return {
    ...{ messages, ids },
    timeOf: (message) => Number(/"Event-Date-Timestamp":"(\d+)"/.exec(message)?.[1]) / 1_000,
    shift: (message, ms) =>
      message.replaceAll(/"(\d{16})"/g, (_, time) => `"${Number(time) + Math.round(ms * 1_000)}"`),
  }
}

const asFrame = (/** @type {string} */ body) =>
  `Content-Length: ${body.length}\nContent-Type: text/event-json\n\n${body}`

/** The same id in another call: of the same length, since a frame has one. @param {string} id @param {number} call */
function renamed(id, call) {
  const hex = call.toString(16).padStart(8, '0')
  if (/^\d{10}\./.test(id)) return `${1_000_000_000 + call}${id.slice(10)}`
  return id.includes('/') ? id.slice(0, -8) + hex : hex + id.slice(8)
}

/**
 * The recording of many calls.
 *
 * @param {RecordedCall} call
 * @param {{ calls: number, rate: number, startMs: number }} load
 * @returns {Buffer}
 */
export function recordingOf({ messages, ids, timeOf, shift, banner = '' }, { calls, rate, startMs }) {
  const times = messages.map(timeOf)
  const firstMs = Math.min(...times)
  const escaped = ids.map((id) => id.replaceAll(/[.]/g, '\\.'))
  const pattern = new RegExp(`(?<![\\d.])(?:${escaped.join('|')})(?!\\d)`, 'g')
  const all = []
  for (let index = 0; index < calls; index += 1) {
    const shiftMs = startMs + (index * 1_000) / rate - firstMs
    for (const [at, message] of messages.entries())
      all.push({ index, message, shiftMs, atMs: (times[at] ?? 0) + shiftMs })
  }
  all.sort((left, right) => left.atMs - right.atMs)
  const parts = all.map(({ index, message, shiftMs }) => {
    const text = shift(message, shiftMs).replaceAll(pattern, (id) => renamed(id, index))
    return Buffer.from(text.startsWith('{"Event-Name"') ? asFrame(text) : text, 'latin1')
  })
  return Buffer.concat([Buffer.from(banner), ...parts])
}

const CREDENTIALS = { username: 'hookswitch', secret: 'fake-secret', password: 'fake-secret' }

/** The fakes by source, and how a service connects to them. */
const FAKES = {
  ami: {
    ...{ call: amiCall, fake: 'fakeAsteriskAmi', account: 'alpha', options: ['username', 'secret'] },
    env: { HOOKSWITCH_AMI_SECRET: CREDENTIALS.secret },
    flags: (/** @type {number} */ port) => ['--asterisk-ami', `hookswitch@127.0.0.1:${port}`],
    rule: 'variable:ACCOUNT_ID',
  },
  ari: {
    ...{ call: ariCall, fake: 'fakeAsteriskAri', account: 'alpha', options: ['username', 'password'] },
    env: { HOOKSWITCH_ARI_PASSWORD: CREDENTIALS.password },
    flags: (/** @type {number} */ port) => ['--asterisk-ari', `http://hookswitch@127.0.0.1:${port}/ari`],
    rule: 'variable:ACCOUNT_ID',
  },
  freeswitch: {
    ...{ call: freeswitchCall, fake: 'fakeFreeswitch', options: ['password'] },
    account: '4f0c9e3b5d7a41c2a6e8d1b3907f25ce',
    env: { HOOKSWITCH_FREESWITCH_PASSWORD: CREDENTIALS.password },
    flags: (/** @type {number} */ port) => ['--freeswitch', `127.0.0.1:${port}`],
    rule: 'variable:ecallmgr_Account-ID',
  },
}

/**
 * Plays the load on each source, one after the other.
 *
 * @param {{ sources: readonly string[], rate: number, seconds: number }} load
 * @param {ReturnType<typeof import('./report.js').createReport>} report
 */
export async function loadFromFakes({ sources, rate, seconds }, report) {
  const testkit = await import(built('testkit.js').href)
  const calls = rate * seconds
  for (const [source, { call, fake: name, account, options, env, flags, rule }] of Object.entries(FAKES)) {
    if (!sources.includes(source)) continue
    const folder = mkdtempSync(join(tmpdir(), 'hookswitch-live-'))
    const receiver = await startReceiver()
    const startMs = Date.now()
    const recording = recordingOf(call(), { calls, rate, startMs })
    const credentials = Object.entries(CREDENTIALS).filter(([option]) => options.includes(option))
    const fake = testkit[name]({ recording, ...Object.fromEntries(credentials) })
    const port = await fake.start()
    const service = await startService({
      ...{ source, folder, env, receiver, accounts: [accountOf(account)] },
      flags: [...flags(port), '--account-from', rule],
    })
    try {
      await waitUntil(`${source}: a connection`, () => service.connections() > 0 || undefined)
      const results = await measureCalls({ services: [service], receiver }, calls, async () => {
        const shiftMs = Date.now() - startMs
        await fake.play({ speed: 1 })
        return { shiftMs }
      })
      report.add(`${rate} recorded calls a second for ${seconds} s: ${source}`, results)
    } finally {
      await service.end()
      await fake.close()
      await receiver.end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
