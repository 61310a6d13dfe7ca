import type * as FastCheck from 'fast-check'
import type { StoreHarness } from '../../store/conformance/index.js'
import type { Store } from '../../store/contract.js'
import { type ManualClock, manualClock } from '../clock.js'
import { type Fc, type ModelTest, modelTest } from './check.js'
import { type Interleaved, interleaved } from './interleaved.js'
import { type Asker, ask } from './store-ask.js'
import type { StoreCall } from './store-calls.js'
import { noteAnswer, noteCall, type StoreClient, storeClient } from './store-client.js'
import { answer } from './store-naive.js'
import { type NaiveStore, naiveStore } from './store-naive-state.js'
import { newHook, queueWishes, type StoreStep, type StoreWish } from './store-wishes.js'
import { aloneWishes, rowWishes } from './store-wishes-alone.js'
import { words } from './store-words.js'
import { isSame, newStory, type Story } from './story.js'

export interface StoreModelOptions {
  /** Most wishes in one run. Default 40; with `interleaved` 16. */
  readonly maxCommands?: number
  /**
   * Calls are under way at once, up to three; fast-check's scheduler draws when each is carried out and when its
   * answer arrives. There must be an order of them in which a naive store gives the same answers.
   */
  readonly interleaved?: boolean
}

/** Store time, ms: nothing else in a run lasts as long. */
const LEASE_MS = 600_000

/** A store under test, with all that is known of it. */
interface Run {
  readonly harness: StoreHarness
  readonly clock: ManualClock
  readonly client: StoreClient
  readonly naive: NaiveStore
  readonly asker: Asker
  readonly story: Story
  store: Store
  together?: Interleaved
}

/**
 * A store beside a naive one, both told the same: accepting, claiming, settling, webhooks, lists, tokens, accounts, time,
 * crashes, other nodes. Every answer must be the naive one's, and after every command everything that can be read.
 *
 * @param fc fast-check 4
 * @param harness as for `storeConformance`
 * @example
 * it('is what its model is', () => storeModel(fc, harness).check({ numRuns: 100 }))
 */
export function storeModel(fc: Fc, harness: StoreHarness, options: StoreModelOptions = {}): ModelTest {
  const { interleaved: atOnce = false, maxCommands = atOnce ? 16 : 40 } = options
  const durable = harness.reopen !== undefined
  const listOf = (wishes: FastCheck.WeightedArbitrary<StoreWish>[]) => {
    const command = fc.oneof(...wishes).map((wish) => new Wished(wish))
    return fc.array(command, { maxLength: maxCommands, size: 'max' })
  }
  const queue = queueWishes(fc)
  // What has nothing to do with each other is rarely done in one run: a fault would drown in the rest.
  const commands = atOnce
    ? listOf(queue)
    : fc.oneof(
        { weight: 3, arbitrary: listOf([...queue, ...aloneWishes(fc, durable)]) },
        { weight: 3, arbitrary: listOf(queue) },
        { weight: 1, arbitrary: listOf(rowWishes(fc)) },
      )
  const property = atOnce
    ? fc.asyncProperty(commands, fc.scheduler(), (list, scheduler) =>
        interleavedRun(fc, harness, list, scheduler),
      )
    : fc.asyncProperty(commands, (list) => plainRun(fc, harness, list))
  const replay = `storeModel(fc, harness${atOnce ? ', { interleaved: true }' : ''})`
  const name = `${harness.name}${atOnce ? ', asked at once' : ''}`
  return modelTest(fc, name, replay, property as FastCheck.IAsyncProperty<readonly unknown[]>)
}

class Wished implements FastCheck.AsyncCommand<Run, Run> {
  constructor(private readonly wish: StoreWish) {}
  check() {
    return true
  }
  async run(run: Run) {
    if (run.together?.isFull()) return
    const steps = this.wish.calls(run.client)
    for (const step of steps) await carryOut(run, step)
    if (steps.length > 0 && !run.together) await lookAround(run)
  }
  toString() {
    return this.wish.what
  }
}

async function plainRun(fc: Fc, harness: StoreHarness, commands: readonly Wished[]): Promise<void> {
  const run = await begin(harness)
  try {
    await fc.asyncModelRun(() => ({ model: run, real: run }), commands)
  } finally {
    await end(run)
  }
}

async function interleavedRun(
  fc: Fc,
  harness: StoreHarness,
  commands: readonly Wished[],
  scheduler: FastCheck.Scheduler,
): Promise<void> {
  const run = await begin(harness)
  const { client, asker, store, story } = run
  const naive = structuredClone(run.naive)
  run.together = interleaved(
    scheduler,
    story,
    (call) => ask(store, call, asker),
    (call, seen) => noteAnswer(client, call, seen),
  )
  try {
    await fc.scheduledModelRun(scheduler, () => ({ model: run, real: run }), commands)
    await run.together.rest()
    for (const call of looks(client)) run.together.alone(call, await ask(store, call, asker))
    run.together.judge(naive)
  } finally {
    await end(run)
  }
}

async function begin(harness: StoreHarness): Promise<Run> {
  const clock = manualClock()
  const store = await harness.open({ clock })
  try {
    const { storeMs } = await store.deliveries.own('node 0', LEASE_MS)
    const { sharedBetweenNodes: shared } = harness.supports
    const run: Run = {
      harness,
      clock,
      client: storeClient(shared, LEASE_MS, storeMs),
      naive: naiveStore(shared, LEASE_MS),
      asker: { leaseMs: LEASE_MS, positions: new Map() },
      story: newStory(),
      store,
    }
    await carryOut(run, { do: 'own', owner: 'node 0', now: storeMs })
    for (const ordering of ['call', 'none'] as const) {
      await carryOut(run, { do: 'insert', now: storeMs, hook: newHook(run.client.newId('w'), ordering) })
    }
    return run
  } catch (thrown) {
    await (harness.close ? harness.close(store) : store.close())
    throw thrown
  }
}

const end = ({ harness, store }: Run) => (harness.close ? harness.close(store) : store.close())

async function carryOut(run: Run, step: StoreStep): Promise<void> {
  const { harness, client, story, clock } = run
  if (step.do === 'pass') {
    story.tell(`${step.ms} ms pass`)
    client.now += step.ms
    await clock.advance(step.ms)
    await harness.advance?.(step.ms)
    return
  }
  if (step.do === 'reopen') {
    story.tell('the process ends, and another opens what it left')
    run.store = await harness.reopen!(run.store)
    return
  }
  noteCall(client, step)
  if (run.together) run.together.begin(step)
  else await compare(run, step, true)
}

/** Asks both. What is only looked at is no line of the story, unless it is wrong. */
async function compare(run: Run, call: StoreCall, isTold: boolean): Promise<void> {
  const { naive, client, story } = run
  const seen = await ask(run.store, call, run.asker)
  const expected = answer(naive, call, seen)
  if (!isSame(expected, seen)) story.fail(words(call), expected, seen)
  if (isTold) story.tell(words(call), seen)
  noteAnswer(client, call, seen)
}

/** Everything that can be read without paging, after each wish. */
async function lookAround(run: Run): Promise<void> {
  for (const call of looks(run.client)) await compare(run, call, false)
}

function looks({ now, owner, hooks }: StoreClient): StoreCall[] {
  const all = { callId: undefined, webhookId: undefined, ascending: true, size: 1_000 }
  return [
    ...(['pending', 'list', 'ready', 'stale', 'orphans'] as const).map((what) => ({ do: what, now, owner })),
    ...hooks.map(({ id }) => ({ do: 'read' as const, now, accountId: 'account', id })),
    ...hooks.map(({ id }) => ({
      do: 'deliveries' as const,
      now,
      webhookId: id,
      ascending: true,
      size: 1_000,
    })),
    { do: 'attempts', now, ...all },
  ]
}
