import type * as FastCheck from 'fast-check'
import type { Store } from 'hookswitch/store'
import { type ManualClock, manualClock } from '../../testkit/clock.js'
import type { StoreHarness } from '../../testkit/conformance/index.js'
import { createModelTest, type Fc, type ModelTest } from './check.js'
import { type CommandTrace, createCommandTrace, isEqual } from './command-trace.js'
import { type Interleaved, interleave } from './interleaved.js'
import type { StoreCall } from './store-calls.js'
import {
  createStoreClient,
  leaseOf,
  nodeNamed,
  type StoreClient,
  trackCall,
  trackResult,
} from './store-client.js'
import {
  exclusiveCommands,
  join,
  loadSteps,
  newWebhookRow,
  queueCommands,
  type StoreCommand,
  type StoreStep,
} from './store-commands.js'
import { execute, type StoreDriverState } from './store-driver.js'
import { formatCall } from './store-format.js'
import {
  createReferenceStore,
  expectedResult,
  type ReferenceStore,
  reopenReference,
} from './store-reference.js'

/** Options of `storeModel`. */
export interface StoreModelOptions {
  /** Maximum number of commands per run. Default 40; 16 with `interleaved`. */
  readonly maxCommands?: number
  /**
   * Runs up to three calls concurrently; fast-check's scheduler draws when each is executed and when its result arrives.
   * The results must be linearizable: the reference gives them in some order of the calls. Default false.
   */
  readonly interleaved?: boolean
}

/** Length of leases (store time, ms): longer than a run otherwise lasts. */
const LEASE_MS = 600_000

/** One run: the store under test, the reference, and the client. */
interface Run {
  readonly harness: StoreHarness
  readonly clock: ManualClock
  readonly client: StoreClient
  readonly reference: ReferenceStore
  readonly driver: StoreDriverState
  readonly trace: CommandTrace
  store: Store
  concurrent?: Interleaved
}

/**
 * Model-based test of a store: runs random commands on the store and on a naive reference. Commands commit groups, also
 * twice, load, poll, read changes, change webhooks, read lists, let time pass, crash, and start other nodes. Every result, and after every command everything that can be read, must equal the reference's.
 *
 * @param fc fast-check 4
 * @param harness opens the store, as for `storeConformance`; crashes need its `reopen`
 * @example
 * it('equals its reference', () => storeModel(fc, harness).check({ numRuns: 100 }))
 */
export function storeModel(fc: Fc, harness: StoreHarness, options: StoreModelOptions = {}): ModelTest {
  const { interleaved = false, maxCommands = interleaved ? 16 : 40 } = options
  const durable = harness.reopen !== undefined
  const listOf = (arbitraries: FastCheck.WeightedArbitrary<StoreCommand>[]) => {
    const command = fc.oneof(...arbitraries).map((drawn) => new ModelCommand(drawn))
    return fc.array(command, { maxLength: maxCommands, size: 'max' })
  }
  const queue = queueCommands(fc)
  // Most runs have related commands only: unrelated ones make failures less likely and their traces longer.
  const commands = interleaved
    ? listOf(queue)
    : fc.oneof(listOf([...queue, ...exclusiveCommands(fc, durable)]), listOf(queue))
  const property = interleaved
    ? fc.asyncProperty(commands, fc.scheduler(), (list, scheduler) =>
        runInterleaved(fc, harness, list, scheduler),
      )
    : fc.asyncProperty(commands, (list) => runSequential(fc, harness, list))
  const replayCode = `storeModel(fc, harness${interleaved ? ', { interleaved: true }' : ''})`
  const name = `${harness.name}${interleaved ? ', called concurrently' : ''}`
  return createModelTest(fc, name, replayCode, property as FastCheck.IAsyncProperty<readonly unknown[]>)
}

class ModelCommand implements FastCheck.AsyncCommand<Run, Run> {
  constructor(private readonly command: StoreCommand) {}
  check() {
    return true
  }
  async run(run: Run) {
    if (run.concurrent?.isFull()) return
    const steps = this.command.steps(run.client)
    await runSteps(run, steps)
    if (steps.length > 0 && !run.concurrent) await compareReads(run)
  }
  toString() {
    return this.command.name
  }
}

async function runSequential(
  fc: Fc,
  harness: StoreHarness,
  commands: readonly ModelCommand[],
): Promise<void> {
  const run = await begin(harness)
  try {
    await fc.asyncModelRun(() => ({ model: run, real: run }), commands)
  } finally {
    await end(run)
  }
}

async function runInterleaved(
  fc: Fc,
  harness: StoreHarness,
  commands: readonly ModelCommand[],
  scheduler: FastCheck.Scheduler,
): Promise<void> {
  const run = await begin(harness)
  const { client, driver, store, trace } = run
  await runSteps(run, join(client))
  const reference = structuredClone(run.reference)
  run.concurrent = interleave(
    scheduler,
    trace,
    (call) => execute(store, call, driver),
    (call, result) => trackResult(client, call, result),
  )
  try {
    await fc.scheduledModelRun(scheduler, () => ({ model: run, real: run }), commands)
    await run.concurrent.drain()
    for (const call of readCalls(client)) run.concurrent.add(call, await execute(store, call, driver))
    run.concurrent.check(reference)
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
      client: createStoreClient(shared, LEASE_MS, storeMs),
      reference: createReferenceStore(shared, LEASE_MS),
      driver: { leaseMs: LEASE_MS, keys: new Map(), lanes: new Map() },
      trace: createCommandTrace(),
      store,
    }
    await runSteps(run, [{ do: 'own', owner: 'node 0', now: storeMs }, ...loadSteps('node 0', true)])
    for (const ordering of ['call', 'none'] as const) {
      const webhook = newWebhookRow(run.client.newId('w'), ordering)
      await runSteps(run, [{ do: 'insert', now: storeMs, webhook }])
    }
    return run
  } catch (thrown) {
    await (harness.close ? harness.close(store) : store.close())
    throw thrown
  }
}

const end = ({ harness, store }: Run) => (harness.close ? harness.close(store) : store.close())

async function runSteps(run: Run, steps: readonly StoreStep[]): Promise<void> {
  for (const step of steps) await runStep(run, step)
}

async function runStep(run: Run, step: StoreStep): Promise<void> {
  const { harness, client, trace, clock } = run
  if (typeof step === 'function') return runSteps(run, step(client))
  if (step.do === 'advance') {
    trace.step(`${step.ms} ms pass`)
    client.now += step.ms
    await clock.advance(step.ms)
    await harness.advance?.(step.ms)
    return
  }
  if (step.do === 'reopen') {
    trace.step('the process ends, another opens the data')
    run.store = await harness.reopen!(run.store)
    reopenReference(run.reference)
    return
  }
  if (step.do === 'own') nodeNamed(client, step.owner)
  trackCall(client, step)
  if (run.concurrent) run.concurrent.begin(step)
  else await compare(run, step, true)
}

/** Executes a call on the store and the reference, and compares the results. Reads are traced only if they differ. */
async function compare(run: Run, call: StoreCall, isTraced: boolean): Promise<void> {
  const { reference, client, trace } = run
  const actual = await execute(run.store, call, run.driver)
  const expected = expectedResult(reference, call, actual)
  if (!isEqual(expected, actual)) trace.fail(formatCall(call), expected, actual)
  if (isTraced) trace.step(formatCall(call), actual)
  trackResult(client, call, actual)
}

async function compareReads(run: Run): Promise<void> {
  for (const call of readCalls(run.client)) await compare(run, call, false)
}

/** Calls that read everything, without pages. */
function readCalls({ now, nodes, webhooks, deliveries }: StoreClient): StoreCall[] {
  return [
    { do: 'list', now },
    ...nodes.map((node) => ({ do: 'inspect' as const, now, lease: leaseOf(node), shards: node.shards })),
    { do: 'bodies', now, ids: [...deliveries.keys()] },
    ...webhooks.map(({ id }) => ({ do: 'read' as const, now, accountId: 'account', id })),
    ...webhooks.map(({ id }) => ({ do: 'deliveries' as const, now, webhookId: id })),
    { do: 'attempts', now },
  ]
}
