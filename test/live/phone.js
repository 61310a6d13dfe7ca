// @ts-check
/** A phone: one SIPp process that places or takes one call, or many equal ones. */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scenarioXml } from './sipp-steps.js'
import { waitUntil } from './wait-until.js'

/**
 * @typedef {object} PhoneOptions
 * @property {string} number
 * @property {string} address where the phone listens
 * @property {number} port
 * @property {string} folder for its scenario and its logs
 * @property {readonly import('./sipp-steps.js').Step[]} steps
 * @property {boolean} [speaks] whether it sends audio; default: no
 * @property {{ address: string, port: number }} [calls] the switch that a caller calls; without it the phone is a callee
 * @property {readonly string[]} [flags] more flags of SIPp
 */
/** @typedef {ReturnType<typeof startPhone>} Phone */

/** SIPp binds up to four ports for media, also where the phone sends none. */
const MEDIA = { firstPort: 30_000, portsPerPhone: 4, phones: 500 }

/** A second of silence, as PCMU. */
const SILENCE = Buffer.alloc(8_000, 0xff)

/** What an error quotes of a phone's log. */
const MAX_STEPS = 20
const MAX_SHOWN = 2_000

let started = 0

/**
 * Starts a phone. It ends by itself with its last step; `end` kills it.
 *
 * @param {PhoneOptions} options
 */
export function startPhone({ number, address, port, folder, steps, calls, speaks = false, flags = [] }) {
  started += 1
  const role = calls ? 'caller' : 'callee'
  const file = (/** @type {string} */ ending) => join(folder, `${started}-${role}-${number}.${ending}`)
  const [scenario, logFile, errorFile] = [file('xml'), file('log'), file('errors')]
  const audio = speaks ? join(folder, 'silence.ulaw') : undefined
  if (audio !== undefined) writeFileSync(audio, SILENCE)
  writeFileSync(scenario, scenarioXml(role, steps, audio))
  const mediaPort = MEDIA.firstPort + (started % MEDIA.phones) * MEDIA.portsPerPhone
  const callId = `${role}-${number}-${process.pid}-${started}`
  const argv = [
    ...(calls ? [`${calls.address}:${calls.port}`, '-cid_str', `${callId}-%u`] : []),
    ...['-sf', scenario, '-i', address, '-p', String(port), '-mi', address, '-mp', String(mediaPort)],
    ...['-nostdin', '-trace_logs', '-log_file', logFile, '-log_overwrite', 'true'],
    ...['-trace_err', '-error_file', errorFile, '-error_overwrite', 'true', '-recv_timeout', '60000'],
    ...(flags.includes('-m') ? [] : ['-m', '1']),
    ...flags,
  ]
  const child = spawn('sipp', argv, { stdio: 'ignore' })
  /** @type {number | null | undefined} */
  let code
  const exited = new Promise((resolve) => {
    const end = (/** @type {number | null} */ exitCode) => {
      code = exitCode
      resolve(undefined)
    }
    child.once('error', () => end(null))
    child.once('exit', end)
  })
  const lines = () =>
    existsSync(logFile)
      ? readFileSync(logFile, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : []
  const find = (/** @type {string} */ step) =>
    lines().find((line) => line === step || line.startsWith(`${step} `))
  const problem = () =>
    existsSync(errorFile) ? readFileSync(errorFile, 'utf8').trim().slice(0, MAX_SHOWN) : ''
  /** Waits until the phone has taken a step; resolves to the value that it logged. */
  const took = async (/** @type {string} */ step) => {
    const line = await waitUntil(`phone ${number}: ${step}`, () => {
      const found = find(step)
      if (found === undefined && code !== undefined)
        throw new Error(`phone ${number} ended before it '${step}': ${lines().join(', ')} ${problem()}`)
      return found
    })
    return line.slice(step.length + 1)
  }
  let messages = 0
  return {
    number,
    port,
    took,
    /** Lets the phone go on after a `waitForGo`. */
    async go(/** @type {string} */ value = '-') {
      messages += 1
      const id = calls ? `${callId}-1` : await took('invited')
      const message = [
        'INFO sip:go SIP/2.0',
        `Via: SIP/2.0/UDP ${address};branch=z9hG4bK-go-${messages}`,
        'From: <sip:test@go>',
        'To: <sip:phone@go>',
        `Call-ID: ${id}`,
        `CSeq: ${messages} INFO`,
        `X-Value: ${value}`,
        'Content-Length: 0',
      ]
      const socket = createSocket('udp4')
      await new Promise((resolve) => socket.send(`${message.join('\r\n')}\r\n\r\n`, port, address, resolve))
      socket.close()
    },
    /** The Call-ID of a caller's first call, and the tag of the phone in it. */
    callId: `${callId}-1`,
    tag: `${child.pid}-1`,
    /** Waits until the phone has taken its last step. @param {number} [limitMs] */
    async done(limitMs) {
      await waitUntil(`phone ${number}: its last step`, () => code !== undefined || undefined, limitMs)
      if (code !== 0)
        throw new Error(
          `phone ${number} (${role}) failed after: ${lines().slice(-MAX_STEPS).join(', ') || 'nothing'}. ${problem()}`,
        )
    },
    async end() {
      if (code === undefined) child.kill('SIGKILL')
      await exited
    },
  }
}
