// @ts-check
/**
 * Each alert fires from a running service in that trouble, and ends with it:
 * `npm run alerts -- [--only TEXT] [--quick] [--speed 1] [--jobs 2]`.
 *
 * A situation is a service at work (`situations.js`) and a Prometheus with the rules and the scrape configuration of
 * `deploy/prometheus`. The trouble begins after 45 s without an alert. Each expected one must fire within a minute, and end when the
 * trouble has ended. `--speed 10` divides every interval, `for` and window of the rules by ten. At full speed the end of
 * alerts whose window is longer than two minutes is not waited for. `--quick` plays three situations.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { sleep } from './parts.js'
import { hasPrometheus, readRules, startPrometheus, windowMs } from './prometheus.js'
import { SITUATIONS } from './situations.js'

/** How soon an alert must fire, ms. */
const NOTICED_WITHIN_MS = 60_000
/**
 * The history is measured once a minute, and a node knows that it is cut off from a network when nothing has answered for
 * one: another alert tells before.
 *
 * @type {Readonly<Record<string, number>>}
 */
const NOTICED_LATER_MS = { HistoryNearLimit: 90_000, Outage: 90_000 }
/** The longest window whose end is waited for, ms. */
const MAX_WINDOW_MS = 125_000
/** How long an alert may take to end, beside its window, ms. */
const ENDS_WITHIN_MS = 120_000
/** How long a service may take until no alert fires: on a busy machine a database that starts is too slow at first, ms. */
const MAX_START_MS = 300_000
const POLL_MS = 250

const values = readRunFlags({
  only: { type: 'string', default: '' },
  quick: { type: 'boolean', default: false },
  speed: { type: 'string', default: '1' },
  jobs: { type: 'string', default: '2' },
  keep: { type: 'boolean', default: false },
})
const fastest = parseWholeNumber('speed', values.speed)
const jobs = parseWholeNumber('jobs', values.jobs)
const rules = new Map((await readRules()).map((rule) => [rule.alert.replace('Hookswitch', ''), rule]))

/** @typedef {{ alert: string, severity: string, firedMs?: number | undefined, endedMs?: number | 'later' | undefined }} Seen */

/** @param {import('./situations.js').Situation} situation */
async function play(situation) {
  const speed = situation.isReal ? 1 : fastest
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-alerts-'))
  /** @type {(() => unknown)[]} */
  const cleaning = []
  const prometheus = await startPrometheus(folder, speed)
  cleaning.push(prometheus.end)
  const defer = (/** @type {() => unknown} */ clean) => void cleaning.push(clean)
  /** @type {string[]} */
  const problems = []
  /** Alerts that fired while the service started. @type {Set<string>} */
  const before = new Set()
  /** @type {Map<string, Seen>} */
  const seen = new Map(
    situation.expected.map((alert) => [
      alert,
      { alert, severity: String(rules.get(alert)?.labels.severity) },
    ]),
  )
  // The window of this gauge is not divided, and the start of a node blocks its event loop.
  const isMeant = (/** @type {string} */ alert) =>
    speed === 1 || alert !== 'EventLoopBlocked' || situation.expected.includes(alert)
  const firing = async () => {
    const names = [...(await prometheus.firing())].map((name) => name.replace('Hookswitch', ''))
    return new Set(names.filter(isMeant))
  }
  try {
    const trouble = await situation.setUp({ folder, defer, setTargets: prometheus.setTargets })
    if (typeof trouble === 'string') return { situation, seen, problems, before, skipped: trouble }
    while ((await prometheus.query('up == 1')).length === 0) await sleep(POLL_MS)
    const startedMs = performance.now()
    const wellMs = situation.expected.length > 0 ? 45_000 / speed : 0
    let quietSinceMs = startedMs
    for (;;) {
      const early = await firing()
      const now = performance.now()
      if (early.size > 0) quietSinceMs = now
      // Prometheus has started before its targets: what is absent at first is no news.
      for (const alert of early) if (alert !== 'Gone') before.add(alert)
      if (early.size === 0 && now - quietSinceMs >= wellMs) break
      if (now - startedMs > MAX_START_MS) {
        problems.push(`before the trouble: ${[...early].join(', ')}`)
        break
      }
      await sleep(POLL_MS)
    }

    const begunMs = performance.now()
    let isBegun = false
    const begun = Promise.resolve(trouble.begin()).finally(() => {
      isBegun = true
    })
    begun.catch((thrown) => problems.push(String(thrown)))
    const limitMs = (/** @type {string} */ alert) => NOTICED_LATER_MS[alert] ?? NOTICED_WITHIN_MS
    const patienceMs = Math.max(NOTICED_WITHIN_MS, ...situation.expected.map(limitMs)) + 30_000
    const isWaiting = () => [...seen.values()].some(({ firedMs }) => firedMs === undefined)
    while (!isBegun || (isWaiting() && performance.now() - begunMs < patienceMs)) {
      const now = performance.now() - begunMs
      for (const alert of await firing()) {
        const found = seen.get(alert) ?? { alert, severity: String(rules.get(alert)?.labels.severity) }
        found.firedMs ??= now
        seen.set(alert, found)
      }
      await sleep(POLL_MS)
    }
    for (const alert of situation.expected) {
      const firedMs = seen.get(alert)?.firedMs
      if (firedMs === undefined) problems.push(`${alert} did not fire`)
      else if (firedMs > limitMs(alert)) problems.push(`${alert} fired after ${seconds(firedMs)} s`)
    }
    if (situation.expected.length === 0 && seen.size > 0)
      problems.push(`${[...seen.keys()].join(', ')} fired`)

    const overMs = performance.now()
    await trouble.end?.()
    const left = new Set([...seen.values()].filter(({ firedMs }) => firedMs !== undefined))
    let allowedMs = 0
    for (const entry of left) {
      const rule = rules.get(entry.alert)
      const window = rule ? windowMs(rule) / speed : 0
      if (window > MAX_WINDOW_MS) {
        entry.endedMs = 'later'
        left.delete(entry)
      } else allowedMs = Math.max(allowedMs, window + ENDS_WITHIN_MS)
    }
    while (left.size > 0 && performance.now() - overMs < allowedMs) {
      const now = await firing()
      for (const entry of left) {
        if (now.has(entry.alert)) continue
        entry.endedMs = performance.now() - overMs
        left.delete(entry)
      }
      await sleep(POLL_MS)
    }
    for (const { alert } of left) problems.push(`${alert} did not end`)
  } catch (thrown) {
    problems.push(thrown instanceof Error ? String(thrown.stack) : String(thrown))
  } finally {
    for (const clean of cleaning.reverse()) await clean()
    if (values.keep) console.log(`kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { situation, seen, problems, before }
}

/** @param {number} ms */
const seconds = (ms) => (ms / 1000).toFixed(0)

/** @param {Awaited<ReturnType<typeof play>>} result */
function print({ situation, seen, problems, before, skipped }) {
  console.log(`\n${situation.name}`)
  if (skipped !== undefined) return console.log(`  *** SKIPPED: ${skipped} ***`)
  if (before.size > 0) console.log(`  fired while the service started: ${[...before].join(', ')}`)
  if (seen.size === 0) console.log('  no alert')
  for (const { alert, severity, firedMs, endedMs } of seen.values()) {
    const fired = firedMs === undefined ? 'never' : `${seconds(firedMs)} s`
    const end =
      endedMs === 'later'
        ? 'with its window'
        : endedMs === undefined
          ? '-'
          : `${seconds(endedMs)} s after the end`
    const isExpected = situation.expected.includes(alert)
    console.log(
      `  ${isExpected ? ' ' : '+'} ${alert.padEnd(20)} ${severity.padEnd(7)} ${fired.padStart(6)}  ends ${end}`,
    )
  }
  for (const problem of problems) console.log(`  ! ${problem}`)
}

async function main() {
  if (!hasPrometheus()) {
    console.log(
      '*** SKIPPED: prometheus is not installed (apt-get install prometheus): no alert was tried ***',
    )
    return
  }
  const chosen = SITUATIONS.filter(
    ({ name, isQuick = false }) => name.includes(String(values.only)) && (isQuick || !values.quick),
  )
  if (chosen.length === 0) throw new Error(`no situation has ${values.only} in its name`)
  const untested = [...rules.keys()].filter(
    (alert) => !SITUATIONS.some(({ expected }) => expected.includes(alert)),
  )
  if (untested.length > 0) console.log(`! no situation expects ${untested.join(', ')}`)
  console.log(
    fastest === 1
      ? 'The rules and intervals as deployed.'
      : `Every interval, "for" and window of the rules is divided by ${fastest}, except where nothing is wrong: the seconds are not those of a real one.`,
  )
  let failed = untested.length > 0 ? 1 : 0
  const waiting = [...chosen]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = await play(next)
      print(result)
      if (result.problems.length > 0) failed += 1
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, chosen.length) }, work))
  console.log(failed === 0 ? '\nEvery alert fired and ended as expected.' : `\n${failed} failed: see above.`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()
