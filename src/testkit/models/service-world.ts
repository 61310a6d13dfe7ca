import type * as FastCheck from 'fast-check'
import { constant } from '../../delivery/policy.js'
import type { Hookswitch } from '../../hookswitch.js'
import type { HookswitchOptions } from '../../options.js'
import type { StoreHarness } from '../../store/conformance/index.js'
import type { Store } from '../../store/contract.js'
import { type ManualClock, manualClock } from '../clock.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { until } from '../until.js'
import { askService, passwordOf, type ServiceAsker, USER } from './service-ask.js'
import { RETRY_MS, type ServiceStep, serviceWords, TOKEN_TTL_SECONDS } from './service-calls.js'
import { type CuttableStore, cuttable, taughtSender } from './service-doors.js'
import { interrupt, passTo, serviceAnswer } from './service-naive.js'
import { type NaiveService, naiveService } from './service-naive-state.js'
import { isSame, newStory, type Story } from './story.js'

interface Given {
  readonly harness: StoreHarness
  readonly build: (options: HookswitchOptions<Store>) => Hookswitch
  readonly patienceMs: number
  readonly scheduler: FastCheck.Scheduler | undefined
}

/** A service under test with all that surrounds it, and the naive one. */
export interface ServiceWorld extends Given {
  readonly clock: ManualClock
  readonly random: SeededRandom
  readonly naive: NaiveService
  readonly asker: ServiceAsker
  readonly story: Story
  /** Every request: to which webhook, with which event's id, when. */
  readonly requests: { hook: string; eventId: string; atMs: number }[]
  readonly newName: (kind: string) => string
  real: Store
  store: CuttableStore
  hs: Hookswitch
}

export async function openWorld(given: Given): Promise<ServiceWorld> {
  const clock = manualClock()
  const real = await given.harness.open({ clock })
  const made: Record<string, number> = {}
  const naive = naiveService()
  const world = {
    ...given,
    clock,
    real,
    naive,
    random: seededRandom('the service of the model'),
    asker: { keys: {}, passwords: {}, tokens: [], hooks: {}, events: new Map() },
    story: newStory(),
    requests: [],
    newName(kind: string) {
      made[kind] = (made[kind] ?? 0) + 1
      return `${kind}${made[kind]}`
    },
  } as unknown as ServiceWorld
  try {
    await startInstance(world)
    for (const { id, parent } of naive.accounts) {
      const apiKey = id.repeat(40).slice(0, 40)
      const users = [{ username: USER, password: passwordOf(id, 0) }]
      const account = { id, name: id, realm: `${id}.example.com`, apiKey, users }
      await answered(world, world.hs.accounts.create(parent ? { ...account, parentId: parent } : account))
      world.asker.keys[id] = [apiKey]
    }
    const hook = world.newName('w')
    await carryOutStep(world, { do: 'make', hook, account: 'root', kind: 'all', below: true })
    return world
  } catch (thrown) {
    await closeWorld(world)
    throw thrown
  }
}

export async function closeWorld({ harness, real, store }: ServiceWorld): Promise<void> {
  // Dropped, not closed: it has no socket and no timer, and its clock will never move again.
  store.cut()
  await (harness.close ? harness.close(real) : real.close())
}

async function startInstance(world: ServiceWorld): Promise<void> {
  const { clock, random, asker, requests, scheduler } = world
  world.store = cuttable(world.real, scheduler)
  world.hs = world.build({
    store: world.store.store,
    clock,
    random,
    secret: 'a secret of the model',
    retryPolicy: constant(RETRY_MS, { jitter: 0 }),
    breaker: false,
    autoDisable: false,
    tokenTtlSeconds: TOKEN_TTL_SECONDS,
    inFlightPerEndpoint: 1_000,
    inFlightPerAccount: 1_000,
    inFlightPerOrigin: 1_000,
    inFlight: 1_000,
    sender: taughtSender(
      clock,
      (hook) => asker.hooks[hook]!.manner,
      (hook, body) => {
        const [, eventId = 'no event'] = /"event_id":"([^"]+)"/.exec(body) ?? []
        requests.push({ hook, eventId, atMs: clock.monotonic() })
      },
    ),
  })
  await answered(world, world.hs.start())
}

/** Does it to both; throws the story where they differ. */
export async function carryOutStep(world: ServiceWorld, step: ServiceStep): Promise<void> {
  const { naive, story } = world
  const sentence = serviceWords(step)
  if (step.do === 'pass') {
    await pass(world, step.ms, sentence)
    story.tell(sentence)
  } else if (step.do === 'restart' || step.do === 'crash') {
    await startAnother(world, step.do === 'crash')
    interrupt(naive, step.do === 'crash')
    story.tell(sentence)
    await agree(world, sentence)
  } else {
    const seen = await answered(world, askService(world.hs, step, world.asker))
    const expected = serviceAnswer(naive, step)
    if (!isSame(expected, seen)) story.fail(sentence, expected, seen)
    story.tell(sentence, seen)
    await agree(world, 'after that, what reached whom')
  }
}

/** From one thing that happens to the next, so that a store with real input and output keeps step. */
async function pass(world: ServiceWorld, ms: number, sentence: string): Promise<void> {
  const { clock, naive } = world
  const endMs = clock.monotonic() + ms
  for (;;) {
    const { nextDueMs = Number.POSITIVE_INFINITY } = clock.sleepers()
    const nextMs = Math.min(endMs, Math.max(nextDueMs, clock.monotonic()))
    await clock.advance(nextMs - clock.monotonic())
    passTo(naive, nextMs)
    await agree(world, `while ${sentence}, after ${ms - (endMs - nextMs)} ms`)
    if (nextMs === endMs) return
  }
}

async function startAnother(world: ServiceWorld, isCrash: boolean): Promise<void> {
  const { harness, clock, naive } = world
  if (isCrash) world.store.cut()
  else await answered(world, world.hs.close({ drainMs: 0 }))
  if (harness.reopen) world.real = await harness.reopen(world.real)
  await startInstance(world)
  await quiet(world)
  // Where nodes share the store, the lease of the one before must end.
  for (let asked = 0; !world.store.ownsAll() && asked < 1_000; asked += 1) {
    await clock.advance(100)
    await quiet(world)
  }
  naive.nowMs = clock.monotonic()
}

/** Waits for an answer; where a scheduler draws, it draws until the answer is there. */
function answered<T>({ scheduler }: ServiceWorld, promise: Promise<T>): Promise<T> {
  return scheduler ? scheduler.waitFor(promise) : promise
}

/** Until nothing happens any more without time passing. */
async function quiet({ clock, scheduler, store }: ServiceWorld): Promise<void> {
  for (;;) {
    await clock.settle()
    if (scheduler && scheduler.count() > 0) await scheduler.waitIdle()
    else if (store.underWay.size > 0) await Promise.all(store.underWay)
    else return
  }
}

/** Both have sent the same to the same by now, and every delivery stands alike. */
async function agree(world: ServiceWorld, what: string): Promise<void> {
  const { naive, story, patienceMs } = world
  const expected = () => ({ requests: naive.received, deliveries: standing(naive) })
  let seen: unknown
  const look = async () => {
    await quiet(world)
    seen = await seenOf(world)
    return isSame(expected(), seen)
  }
  if (await look()) return
  await until(look, { timeoutMs: patienceMs }).catch(() => {
    const both = [expected(), seen] as [Standing, Standing]
    story.fail(what, ...differing(...both))
  })
}

type Standing = { requests: Record<string, string[]>; deliveries: Record<string, string[]> }

function standing({ hooks, sent }: NaiveService): Record<string, string[]> {
  const rows = hooks.map(({ id }) => {
    const ofHook = sent.filter(({ hook }) => hook === id)
    return [id, ofHook.map(({ event, state }) => `${event} ${state}`)]
  })
  return Object.fromEntries(rows)
}

async function seenOf(world: ServiceWorld): Promise<Standing> {
  const { asker, requests: all, hs } = world
  const deliveries: Record<string, string[]> = {}
  const lanes = new Map<string, string>()
  for (const [hook, { id, account }] of Object.entries(asker.hooks)) {
    const asked = hs.webhooks.deliveries(account, id, { limit: 1_000, ascending: true })
    const rows = await answered(world, asked)
    deliveries[hook] = rows.map(({ eventId, state }) => `${asker.events.get(eventId)} ${state}`)
    for (const { eventId, eventAccountId, callId } of rows) {
      lanes.set(`${hook} ${eventId}`, `${eventAccountId}/${callId}`)
    }
  }
  const requests: Record<string, string[]> = {}
  for (const { hook, eventId, atMs } of all) {
    const place = `${hook} ${lanes.get(`${hook} ${eventId}`)}`
    requests[place] = [...(requests[place] ?? []), `${asker.events.get(eventId)} at ${atMs}`]
  }
  return { requests, deliveries }
}

/** Only what differs of two accounts of the same: the rest would hide it. */
function differing(expected: Standing, seen: Standing): [unknown, unknown] {
  const told = (one: Standing, other: Standing) =>
    (['requests', 'deliveries'] as const).flatMap((part) =>
      [...new Set([...Object.keys(one[part]), ...Object.keys(other[part])])]
        .filter((place) => !isSame(one[part][place], other[part][place]))
        .map((place) => `${part} of ${place}: ${one[part][place]?.join(', then ') ?? 'none'}`),
    )
  return [told(expected, seen), told(seen, expected)]
}
