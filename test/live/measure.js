// @ts-check
/** Measurements beside a switch: many calls, and none. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { legsOf } from './legs.js'
import { startPhone } from './phone.js'
import * as step from './sipp-steps.js'
import { waitUntil } from './wait-until.js'

/** @typedef {import('./scenario.js').Run} Run */

const HOOKS = 'channel_create channel_answer channel_bridge channel_destroy'
const TALK_MS = 1_000
const MAX_SHOWN = 1_000
/** How long the last events may take after the last call. */
const LIMIT_MS = 60_000

/**
 * No call for a while: the connections must stay.
 *
 * @param {Run} run
 * @param {number} seconds
 * @returns {Promise<string[]>} what is wrong
 */
export async function measureIdle({ services }, seconds) {
  const before = services.map((service) => service.connections())
  await sleep(seconds * 1_000)
  return services.flatMap(({ source, connections }, index) => {
    const drops = connections() - (before[index] ?? 0)
    return drops === 0 ? [] : [`${source}: connected again ${drops} times`]
  })
}

/**
 * Calls at a constant rate: each must be published in full.
 *
 * @param {Run} run
 * @param {number} rate calls per second
 * @param {number} seconds
 * @returns {Promise<import('./scenario.js').Result[]>} what is wrong
 */
export function measureLoad(run, rate, seconds) {
  return measureCalls(run, rate * seconds, async () => ({ failure: await placeCalls(run, rate, seconds) }))
}

/**
 * Answered calls of two legs each: no event may be missing, doubled or out of order.
 *
 * @param {Pick<Run, 'services' | 'receiver'>} run
 * @param {number} calls
 * @param {() => Promise<{ failure?: string | undefined, shiftMs?: number }>} place places them; resolves to why it failed,
 *   and how much later than its own time each event happened
 * @returns {Promise<import('./scenario.js').Result[]>} what is wrong
 */
export async function measureCalls({ services, receiver }, calls, place) {
  const receivedBefore = receiver.received.length
  const cpuBefore = services.map(({ pid }) => cpuMs(pid()))
  const { failure, shiftMs = 0 } = await place()
  const common = failure === undefined ? [] : [`the phones lost calls: ${failure.slice(0, MAX_SHOWN)}`]
  const results = []
  const expected = calls * 2
  for (const [index, { source, pid }] of services.entries()) {
    const events = () =>
      receiver.received.slice(receivedBefore).filter((request) => request.source === source)
    const areOver = () => {
      const ends = events().filter(({ event }) => event.hook_event === 'channel_destroy')
      return ends.length >= expected || undefined
    }
    await waitUntil(source, areOver, LIMIT_MS).catch(() => {})
    const all = events()
    const legs = legsOf(all, source)
    const incomplete = legs.filter((leg) => !isComplete(leg))
    const delays = all
      .map(({ event, atMs }) => atMs - shiftMs - Date.parse(event.happened_at))
      .sort((a, b) => a - b)
    const delay = (/** @type {number} */ part) => `${delays[Math.floor((delays.length - 1) * part)]} ms`
    console.log(
      `        ${source}: ${all.length} events, ${legs.length - incomplete.length} of ${expected} legs complete, ` +
        `event to receiver p50 ${delay(0.5)}, p99 ${delay(0.99)}, at most ${delay(1)}; ` +
        `${((cpuMs(pid()) - (cpuBefore[index] ?? 0)) / all.length).toFixed(2)} ms of processor time an event; ` +
        `resident ${memoryMb(pid(), 'VmRSS')} MB, at most ${memoryMb(pid(), 'VmHWM')} MB`,
    )
    const problems = [...common]
    if (legs.length !== expected || incomplete.length > 0) {
      const first = incomplete[0]?.events.map((event) => `${event.sequence} ${event.hook_event}`)
      const example = first === undefined ? '' : `, such as ${first.join(', ')}`
      problems.push(`${legs.length} legs, not ${expected}; ${incomplete.length} incomplete${example}`)
    }
    results.push({ source, problems })
  }
  return results
}

/** Whether its events arrived once each, in order. @param {import('./legs.js').PublishedLeg} leg */
const isComplete = ({ events }) =>
  events.map((event) => event.hook_event).join(' ') === HOOKS &&
  events.every((event, index) => event.sequence === index + 1)

/**
 * @param {Run} run
 * @param {number} rate
 * @param {number} seconds
 * @returns {Promise<string | undefined>} why the phones failed
 */
async function placeCalls({ live, folder }, rate, seconds) {
  const common = { folder, address: live.phonesAddress, speaks: live.kind === 'freeswitch' }
  // Large socket buffers: a lost packet costs half a second.
  const many = ['-m', String(rate * seconds), '-l', String(rate * 60), '-buff_size', '212992']
  const callee = startPhone({
    ...{ ...common, number: '1902', port: live.portOf('1902'), flags: many },
    steps: [step.isInvited, step.ring, step.answer, step.isHungUp],
  })
  const caller = startPhone({
    ...{ ...common, number: '1901', port: live.portOf('1901'), flags: [...many, '-r', String(rate)] },
    steps: [step.invite({ from: '1901', to: '1902' }), step.isAnswered, step.talk(TALK_MS), step.hangUp],
    calls: live.sip,
  })
  try {
    await caller.done(seconds * 1_000 + LIMIT_MS)
    await callee.done()
    return undefined
  } catch (thrown) {
    return String(thrown)
  } finally {
    await caller.end()
    await callee.end()
  }
}

/** The processor time of a process, where /proc tells it: a tick is 10 ms. @param {number | undefined} pid */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return Number.NaN
  }
}

/** The memory of a process, where /proc tells it. @param {number | undefined} pid @param {string} field */
function memoryMb(pid, field) {
  try {
    const kb = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Math.round(Number(kb) / 1_000)
  } catch {
    return 'unknown'
  }
}
