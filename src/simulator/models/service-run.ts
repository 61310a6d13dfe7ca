/** One run of the service model: the service under test with its test doubles, beside the reference. */

import type * as FastCheck from 'fast-check'
import { constant } from '../../delivery/policy.js'
import type { Hookswitch } from '../../hookswitch.js'
import type { HookswitchOptions } from '../../options/options.js'
import type { Store } from '../../store/contract.js'
import { type ManualClock, manualClock } from '../../testkit/clock.js'
import type { StoreHarness } from '../../testkit/conformance/index.js'
import { type SeededRandom, seededRandom } from '../../testkit/random.js'
import { until } from '../../testkit/until.js'
import { type CommandTrace, createCommandTrace, isEqual } from './command-trace.js'
import { formatStep, RETRY_MS, type ServiceStep, TOKEN_TTL_SECONDS } from './service-calls.js'
import {
  createDisconnectableStore,
  createScriptedSender,
  type DisconnectableStore,
} from './service-doubles.js'
import { executeOnService, passwordOf, type ServiceDriverState, USER } from './service-driver.js'
import {
  advanceTo,
  createReferenceService,
  expectedServiceResult,
  interrupt,
  type ReferenceService,
} from './service-reference.js'

interface RunOptions {
  readonly harness: StoreHarness
  readonly build: (options: HookswitchOptions<Store>) => Hookswitch
  readonly timeoutMs: number
  readonly scheduler: FastCheck.Scheduler | undefined
}

export interface ServiceRun extends RunOptions {
  readonly clock: ManualClock
  readonly random: SeededRandom
  readonly reference: ReferenceService
  readonly driver: ServiceDriverState
  readonly trace: CommandTrace
  /** All requests of the service. */
  readonly requests: { webhook: string; eventId: string; atMs: number }[]
  readonly newName: (kind: string) => string
  realStore: Store
  store: DisconnectableStore
  hs: Hookswitch
}

export async function beginRun(options: RunOptions): Promise<ServiceRun> {
  const clock = manualClock()
  const realStore = await options.harness.open({ clock })
  const created: Record<string, number> = {}
  const reference = createReferenceService()
  const run = {
    ...options,
    clock,
    realStore,
    reference,
    random: seededRandom('the service of the model'),
    driver: { keys: {}, passwords: {}, tokens: [], webhooks: {}, events: new Map() },
    trace: createCommandTrace(),
    requests: [],
    newName(kind: string) {
      created[kind] = (created[kind] ?? 0) + 1
      return `${kind}${created[kind]}`
    },
  } as unknown as ServiceRun
  try {
    await startInstance(run)
    for (const { id, parent } of reference.accounts) {
      const apiKey = id.repeat(40).slice(0, 40)
      const users = [{ username: USER, password: passwordOf(id, 0) }]
      const account = { id, name: id, realm: `${id}.example.com`, apiKey, users }
      await resultOf(run, run.hs.accounts.create(parent ? { ...account, parentId: parent } : account))
      run.driver.keys[id] = [apiKey]
    }
    const webhook = run.newName('w')
    await runStep(run, { do: 'create', webhook, account: 'root', hook: 'all', includeSubaccounts: true })
    return run
  } catch (thrown) {
    await endRun(run)
    throw thrown
  }
}

export async function endRun({ harness, realStore, store }: ServiceRun): Promise<void> {
  // The instance is not closed: it has no socket and no timer, and its clock does not advance any more.
  store.disconnect()
  await (harness.close ? harness.close(realStore) : realStore.close())
}

async function startInstance(run: ServiceRun): Promise<void> {
  const { clock, random, driver, requests, scheduler } = run
  run.store = createDisconnectableStore(run.realStore, scheduler)
  run.hs = run.build({
    store: run.store.store,
    clock,
    random,
    secret: 'a secret of the model',
    retryPolicy: constant(RETRY_MS, { jitter: 0 }),
    pauses: false,
    autoDisable: false,
    tokenTtlSeconds: TOKEN_TTL_SECONDS,
    // So many that no share of them binds either: a zone that is not known yet gets half a percent at first.
    inFlightPerEndpoint: 100_000,
    inFlightPerAccount: 100_000,
    inFlightPerOrigin: 100_000,
    inFlight: 100_000,
    sender: createScriptedSender(
      clock,
      (webhook) => driver.webhooks[webhook]!.behaviour,
      (webhook, body) => {
        const [, eventId = 'no event'] = /"event_id":"([^"]+)"/.exec(body) ?? []
        requests.push({ webhook, eventId, atMs: clock.monotonic() })
      },
    ),
  })
  await resultOf(run, run.hs.start())
}

/** Executes a step on the service and the reference; fails where they differ. */
export async function runStep(run: ServiceRun, step: ServiceStep): Promise<void> {
  const { reference, trace } = run
  const sentence = formatStep(step)
  if (step.do === 'advance') {
    await advance(run, step.ms, sentence)
    trace.step(sentence)
  } else if (step.do === 'restart' || step.do === 'crash') {
    await restart(run, step.do === 'crash')
    interrupt(reference, step.do === 'crash')
    trace.step(sentence)
    await compareObserved(run, sentence)
  } else {
    const actual = await resultOf(run, executeOnService(run.hs, step, run.driver))
    const expected = expectedServiceResult(reference, step)
    if (!isEqual(expected, actual)) trace.fail(sentence, expected, actual)
    trace.step(sentence, actual)
    await compareObserved(run, 'requests and deliveries after this step')
  }
}

/** Advances time from one event to the next, so that a store with real I/O can keep up. */
async function advance(run: ServiceRun, ms: number, sentence: string): Promise<void> {
  const { clock, reference } = run
  const endMs = clock.monotonic() + ms
  for (;;) {
    const { nextDueMs = Number.POSITIVE_INFINITY } = clock.sleepers()
    const nextMs = Math.min(endMs, Math.max(nextDueMs, clock.monotonic()))
    await clock.advance(nextMs - clock.monotonic())
    advanceTo(reference, nextMs)
    await compareObserved(run, `while ${sentence}, after ${ms - (endMs - nextMs)} ms`)
    if (nextMs === endMs) return
  }
}

async function restart(run: ServiceRun, isCrash: boolean): Promise<void> {
  const { harness, clock, reference } = run
  if (isCrash) run.store.disconnect()
  else await resultOf(run, run.hs.close({ drainMs: 0 }))
  if (harness.reopen) run.realStore = await harness.reopen(run.realStore)
  await startInstance(run)
  await settle(run)
  // In a shared store the lease of the former instance must expire first.
  for (let rounds = 0; !run.store.ownsAll() && rounds < 1_000; rounds += 1) {
    await clock.advance(100)
    await settle(run)
  }
  reference.nowMs = clock.monotonic()
}

/** Awaits a result; a scheduler draws until it is there. */
function resultOf<T>({ scheduler }: ServiceRun, promise: Promise<T>): Promise<T> {
  return scheduler ? scheduler.waitFor(promise) : promise
}

/** Waits until nothing more happens without time passing. */
async function settle({ clock, scheduler, store }: ServiceRun): Promise<void> {
  for (;;) {
    await clock.settle()
    if (scheduler && scheduler.count() > 0) await scheduler.waitIdle()
    else if (store.inProgress.size > 0) await Promise.all(store.inProgress)
    else return
  }
}

/** Requests by webhook and lane, and states of deliveries by webhook. */
type Observed = { requests: Record<string, string[]>; deliveries: Record<string, string[]> }

/** Compares all requests and all states of deliveries with the reference. */
async function compareObserved(run: ServiceRun, text: string): Promise<void> {
  const { reference, trace, timeoutMs } = run
  const expected = () => ({ requests: reference.requests, deliveries: expectedDeliveries(reference) })
  let actual: Observed = { requests: {}, deliveries: {} }
  const isAsExpected = async () => {
    await settle(run)
    actual = await observe(run)
    return isEqual(expected(), actual)
  }
  if (await isAsExpected()) return
  await until(isAsExpected, { timeoutMs }).catch(() => {
    const [onlyExpected, onlyActual] = differences(expected(), actual)
    trace.fail(text, onlyExpected, onlyActual)
  })
}

function expectedDeliveries({ webhooks, deliveries }: ReferenceService): Record<string, string[]> {
  const rows = webhooks.map(({ id }) => {
    const ofWebhook = deliveries.filter(({ webhook }) => webhook === id)
    return [id, ofWebhook.map(({ event, state }) => `${event} ${state}`)]
  })
  return Object.fromEntries(rows)
}

async function observe(run: ServiceRun): Promise<Observed> {
  const { driver, hs } = run
  const deliveries: Record<string, string[]> = {}
  const lanes = new Map<string, string>()
  for (const [webhook, { id, account }] of Object.entries(driver.webhooks)) {
    const list = hs.webhooks.deliveries(account, id, { limit: 1_000, ascending: true })
    const rows = await resultOf(run, list)
    deliveries[webhook] = rows.map(({ eventId, state }) => `${driver.events.get(eventId)} ${state}`)
    for (const { eventId, eventAccountId, callId } of rows) {
      lanes.set(`${webhook} ${eventId}`, `${eventAccountId}/${callId}`)
    }
  }
  const requests: Record<string, string[]> = {}
  for (const { webhook, eventId, atMs } of run.requests) {
    const lane = `${webhook} ${lanes.get(`${webhook} ${eventId}`)}`
    requests[lane] = [...(requests[lane] ?? []), `${driver.events.get(eventId)} at ${atMs}`]
  }
  return { requests, deliveries }
}

/** The entries that differ, formatted, first as expected, then as observed. */
function differences(expected: Observed, actual: Observed): [unknown, unknown] {
  const format = (first: Observed, second: Observed) =>
    (['requests', 'deliveries'] as const).flatMap((part) =>
      [...new Set([...Object.keys(first[part]), ...Object.keys(second[part])])]
        .filter((key) => !isEqual(first[part][key], second[part][key]))
        .map((key) => `${part} of ${key}: ${first[part][key]?.join(', then ') ?? 'none'}`),
    )
  return [format(expected, actual), format(actual, expected)]
}
