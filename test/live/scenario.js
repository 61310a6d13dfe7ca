// @ts-check
/** Plays one scenario: places its calls, waits for what they publish, and compares. */
import { compareLegs, concerns, isReported, legsOf, phoneOf } from './legs.js'
import { startPhone } from './phone.js'
import { invite } from './sipp-steps.js'
import { waitUntil } from './wait-until.js'

/** @typedef {import('./legs.js').ExpectedLeg} ExpectedLeg */
/** @typedef {import('./sipp-steps.js').Step} Step */
/**
 * The switch of a run.
 *
 * @typedef {object} LiveSwitch
 * @property {'asterisk' | 'freeswitch'} kind
 * @property {{ address: string, port: number }} sip
 * @property {string} phonesAddress
 * @property {(number: string) => number} portOf the port of a phone
 * @property {'hangs up' | 'is hung up'} transferor what a phone does after the switch took its transfer
 * @property {(() => Promise<void>) | undefined} restart kills the switch and starts it again, if this run started it
 */
/**
 * @typedef {object} Run
 * @property {LiveSwitch} live
 * @property {string} folder
 * @property {readonly import('./service.js').Service[]} services
 * @property {readonly Awaited<ReturnType<typeof import('./relay.js').startRelay>>[]} relays
 * @property {Awaited<ReturnType<typeof import('./service.js').startReceiver>>} receiver
 * @property {Set<string>} failed the phones of failed scenarios, whose calls may still end
 */
/**
 * A queue that calls its agents one after the other.
 *
 * @typedef {object} Queue
 * @property {string} name
 * @property {readonly string[]} agents the numbers of their phones
 * @property {number} ringSeconds how long each agent rings
 * @property {number} [waitSeconds] how long a caller waits; default: for ever
 * @property {string} [keys] the context of the keys by which a caller leaves
 */
/**
 * @typedef {object} Scenario
 * @property {string} name a sentence about what happens
 * @property {Readonly<Record<string, string | undefined>>} phones accounts by number
 * @property {{ asterisk?: readonly string[], freeswitch?: readonly string[] }} [dialplan] extensions that it needs
 * @property {Readonly<Record<string, readonly string[]>>} [asteriskConf] more lines of configuration by file
 * @property {readonly Queue[]} [queues] that it needs
 * @property {readonly string[]} [mailboxes] that it needs
 * @property {readonly LiveSwitch['kind'][]} [only] the switches that it is for; default: all
 * @property {string} [accountFrom] how the services find the account of a call; default: by variable
 * @property {{ texts: readonly string[], account: string }} [never] texts that no event of an account may contain
 * @property {boolean} [restarts] whether it needs a switch that this run started
 * @property {(stage: Stage) => Promise<void>} play
 * @property {readonly ExpectedLeg[] | ((live: LiveSwitch) => readonly ExpectedLeg[])} legs
 */

/** @typedef {ReturnType<typeof createStage>} Stage */
/**
 * What is wrong with a service, as sentences; without a source: with all.
 *
 * @typedef {{ source: string, problems: readonly string[] }} Result
 */

/**
 * What a scenario does things with.
 *
 * @param {Run} run
 */
function createStage(run) {
  const { live, folder, receiver, failed } = run
  const isFreeswitch = live.kind === 'freeswitch'
  const receivedBefore = receiver.received.length
  /** @type {import('./phone.js').Phone[]} */
  const phones = []
  /** What the scenario published so far. */
  const published = (/** @type {string} */ source) =>
    legsOf(receiver.received.slice(receivedBefore), source).filter((leg) => !concerns(leg, failed))
  /**
   * Starts a phone, by default on the port of its number.
   *
   * @param {{ number: string, steps: readonly Step[], port?: number, places?: boolean, speaks?: boolean }} options
   *   `places`: it places a call, with an INVITE among its steps; `speaks`: it sends audio. Default: only to FreeSWITCH,
   *   some of whose applications wait for it
   */
  const phone = ({ number, steps, port = live.portOf(number), places = false, speaks = isFreeswitch }) => {
    const calls = places ? { calls: live.sip } : {}
    const started = startPhone({ number, port, folder, address: live.phonesAddress, steps, speaks, ...calls })
    phones.push(started)
    return started
  }
  return {
    run,
    published,
    phone,
    /** A phone that takes a call. @param {string} number @param {readonly Step[]} steps */
    callee: (number, ...steps) => phone({ number, steps }),
    /**
     * A phone that places a call.
     *
     * @param {string} from
     * @param {string} to
     * @param {readonly Step[]} steps
     */
    caller: (from, to, ...steps) =>
      phone({ number: from, steps: [invite({ from, to }), ...steps], places: true }),
    /** A caller who speaks. @param {string} from @param {string} to @param {readonly Step[]} steps */
    speaker: (from, to, ...steps) =>
      phone({ number: from, steps: [invite({ from, to }), ...steps], places: true, speaks: true }),
    /**
     * Waits until every service whose interface reports such events published this event of the leg of a phone.
     *
     * @param {string} number
     * @param {string} hook without `channel_`
     * @param {number} [times]
     */
    async sees(number, hook, times = 1) {
      const isThere = (/** @type {string} */ source) =>
        published(source)
          .filter((leg) => phoneOf(leg) === number)
          .flatMap((leg) => leg.events)
          .filter((event) => [hook, `channel_${hook}`].includes(event.hook_event)).length >= times
      for (const { source } of run.services.filter((service) => isReported(hook, service.source)))
        await waitUntil(`channel_${hook} of ${number} from ${source}`, () => isThere(source) || undefined)
    },
    /** Waits until all phones have taken their last step. */
    async done() {
      for (const started of phones) await started.done()
    },
    async end() {
      for (const started of phones) await started.end()
    },
  }
}

/**
 * What FreeSWITCH does not report: the endpoint of a phone without a user in its directory, the status of a call that it
 * refuses itself, and the number of an agent before the answer.
 *
 * @param {ExpectedLeg} leg
 * @returns {ExpectedLeg}
 */
function asFreeswitchReports({ endpoint: _, code, ...leg }) {
  const hooks = leg.hooks.map((hook) => hook.replace(/^(queue_agent_(?:offer|no_answer)):.*/, '$1'))
  const isReported = code !== undefined && (code === 200 || leg.direction === 'outbound')
  return { ...leg, hooks, ...(isReported ? { code } : {}) }
}

/**
 * @param {Scenario} scenario
 * @param {Run} run
 * @returns {Promise<Result[]>}
 */
export async function playScenario(scenario, run) {
  const { never } = scenario
  const stage = createStage(run)
  const expected = typeof scenario.legs === 'function' ? scenario.legs(run.live) : scenario.legs
  const legs = run.live.kind === 'asterisk' ? expected : expected.map(asFreeswitchReports)
  /** @type {string[]} */
  const common = []
  try {
    await scenario.play(stage)
    await stage.done()
    for (const { source } of run.services) {
      const isOver = () => {
        const ends = stage
          .published(source)
          .filter(({ events }) => events.at(-1)?.hook_event === 'channel_destroy')
        return ends.length >= legs.length || undefined
      }
      // The comparison says better what is missing.
      await waitUntil('the end of all legs', isOver).catch(() => {})
    }
  } catch (thrown) {
    common.push(thrown instanceof Error ? thrown.message : String(thrown))
  } finally {
    await stage.end()
  }
  const results = run.services.map(({ source }) => {
    const published = stage.published(source)
    const text = JSON.stringify(published.filter(({ account }) => account === never?.account))
    const told = never?.texts.filter((secret) => text.includes(secret)) ?? []
    const problems = [...common, ...compareLegs(legs, published, source)]
    return { source, problems: [...problems, ...told.map((secret) => `an event contains ${secret}`)] }
  })
  if (results.some(({ problems }) => problems.length > 0))
    for (const number of Object.keys(scenario.phones)) run.failed.add(number)
  return results
}
