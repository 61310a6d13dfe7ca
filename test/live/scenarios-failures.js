// @ts-check
/** Scenarios in which the connection, hookswitch or the switch fails in mid-call. */
import { setTimeout as sleep } from 'node:timers/promises'
import { answeredCall, phonesOf } from './scenario-parts.js'
import * as step from './sipp-steps.js'
import { waitUntil } from './wait-until.js'

/** @typedef {import('./scenario.js').Stage} Stage */

const answers = [step.isInvited, step.ring, step.answer, step.isHungUp]
/** How long a call and an outage last where durations are compared: an invented duration is off by as much. */
const SPAN_MS = 4_000

/**
 * An answered call, published up to its bridge.
 *
 * @param {Stage} stage
 * @param {string} from
 * @param {string} to
 */
async function establish(stage, from, to) {
  stage.callee(to, ...answers)
  const caller = stage.caller(from, to, step.isAnswered, step.waitForGo, step.hangUp)
  await stage.sees(from, 'bridge')
  await stage.sees(to, 'bridge')
  return caller
}

/** A busy machine may need this long to store a leg. */
const STORED_MS = 2_000
/** The delay before a reconnect grows up to 5 s. */
const RECONNECT_MS = 40_000
/** What an error quotes of a log. */
const LAST_LINES = 5

/** Waits until all services have connected again after what `during` does. */
async function reconnected(
  /** @type {Stage} */ { run: { services } },
  /** @type {() => Promise<unknown>} */ during,
) {
  const before = services.map((service) => service.connections())
  await during()
  for (const [index, { source, connections, lines }] of services.entries()) {
    const isBack = () => connections() > (before[index] ?? 0) || undefined
    await waitUntil(`a new connection of ${source}`, isBack, RECONNECT_MS).catch(
      (/** @type {Error} */ error) => {
        throw new Error(`${error.message}; its log ends with ${lines.slice(-LAST_LINES).join('\n')}`)
      },
    )
  }
}

/** Cuts all connections to the switch while `during` runs, and waits until they are back. */
function cut(/** @type {Stage} */ stage, /** @type {() => Promise<unknown>} */ during) {
  const { relays } = stage.run
  return reconnected(stage, async () => {
    for (const relay of relays) relay.cut()
    await during()
    for (const relay of relays) relay.restore()
  })
}

/** Kills hookswitch, lets it start again after `during`, and waits until it is connected. */
function restarted(/** @type {Stage} */ stage, /** @type {() => Promise<unknown>} */ during) {
  const { services } = stage.run
  return reconnected(stage, async () => {
    for (const service of services) await service.kill()
    await during()
    for (const service of services) await service.start()
  })
}

/** @type {readonly import('./scenario.js').Scenario[]} */
export const FAILURE_SCENARIOS = [
  {
    name: 'the connection is cut in mid-call, and the call goes on',
    phones: phonesOf('1401', '1402'),
    async play(stage) {
      const caller = await establish(stage, '1401', '1402')
      await cut(stage, async () => {})
      await caller.go()
    },
    legs: answeredCall('1401', '1402', 'caller', {}).map(
      ({ endedBy: _, cause: __, code: ___, ...leg }) => leg,
    ),
  },
  {
    name: 'the call ends while the connection is cut',
    phones: phonesOf('1411', '1412'),
    async play(stage) {
      const caller = await establish(stage, '1411', '1412')
      await cut(stage, async () => {
        await caller.go()
        await caller.done()
        await sleep(SPAN_MS)
      })
    },
    legs: answeredCall('1411', '1412', 'caller', { billed: [0, 2] }).map(
      ({ endedBy: _, cause: __, code: ___, ...leg }) => leg,
    ),
  },
  {
    name: 'a call begins and is answered while the connection is cut',
    phones: phonesOf('1421', '1422'),
    async play(stage) {
      stage.callee('1422', ...answers)
      /** @type {import('./phone.js').Phone | undefined} */
      let caller
      await cut(stage, async () => {
        caller = stage.caller('1421', '1422', step.isAnswered, step.waitForGo, step.hangUp)
        await caller.took('answered')
        await sleep(SPAN_MS)
      })
      await stage.sees('1421', 'bridge')
      await stage.sees('1422', 'bridge')
      await caller?.go()
    },
    legs: answeredCall('1421', '1422', 'caller', { billed: [SPAN_MS / 1_000 - 1, SPAN_MS / 1_000 + 30] }),
  },
  {
    name: 'hookswitch is killed in mid-call and starts again, and the call goes on',
    phones: phonesOf('1431', '1432'),
    async play(stage) {
      const caller = await establish(stage, '1431', '1432')
      await restarted(stage, () => sleep(SPAN_MS))
      await caller.go()
    },
    legs: answeredCall('1431', '1432', 'caller', { billed: [SPAN_MS / 1_000 - 1, SPAN_MS / 1_000 + 30] }),
  },
  {
    name: 'the call ends while hookswitch is down',
    phones: phonesOf('1441', '1442'),
    async play(stage) {
      const caller = await establish(stage, '1441', '1442')
      // The open legs are stored just after their events.
      await sleep(STORED_MS)
      await restarted(stage, async () => {
        await caller.go()
        await caller.done()
        await sleep(SPAN_MS)
      })
    },
    legs: answeredCall('1441', '1442', 'caller', { billed: [0, 2] }).map(
      ({ endedBy: _, cause: __, code: ___, ...leg }) => leg,
    ),
  },
  {
    name: 'the switch is killed in mid-call and starts again',
    restarts: true,
    phones: phonesOf('1451', '1452'),
    async play(stage) {
      const callee = stage.callee('1452', step.isInvited, step.ring, step.answer, step.waitForGo)
      const caller = stage.caller('1451', '1452', step.isAnswered, step.waitForGo)
      await stage.sees('1451', 'bridge')
      await stage.sees('1452', 'bridge')
      await reconnected(stage, async () => stage.run.live.restart?.())
      await callee.go()
      await caller.go()
      await stage.sees('1451', 'destroy')
      await stage.sees('1452', 'destroy')
    },
    legs: answeredCall('1451', '1452', 'caller').map(({ endedBy: _, cause: __, code: ___, ...leg }) => leg),
  },
  {
    name: 'calls after the restart of the switch, whose channel ids begin anew',
    restarts: true,
    phones: phonesOf('1461', '1462'),
    async play(stage) {
      const caller = await establish(stage, '1461', '1462')
      await caller.go()
    },
    legs: answeredCall('1461', '1462', 'caller'),
  },
]
