import type * as FastCheck from 'fast-check'
import type { Hookswitch, HookswitchOptions } from 'hookswitch'
import type { Store } from 'hookswitch/store'
import { createHookswitch } from '../../hookswitch.js'
import type { StoreHarness } from '../../testkit/conformance/index.js'
import { createModelTest, type Fc, type ModelTest } from './check.js'
import { deliveryCommands, loginCommands, type ServiceCommand } from './service-commands.js'
import { beginRun, endRun, runStep, type ServiceRun } from './service-run.js'

/** Options of `serviceModel`. */
export interface ServiceModelOptions {
  /** Maximum number of commands per run. Default 30. */
  readonly maxCommands?: number
  /** fast-check's scheduler draws when each store call is executed and when its result arrives. Default false. */
  readonly interleaved?: boolean
  /** Creates a service instance, for hosts that wrap it or add options. Default: `createHookswitch`. */
  readonly build?: (options: HookswitchOptions<Store>) => Hookswitch
  /** How long an expected effect may take, in real milliseconds. Default 2,000; only a failing run waits that long. */
  readonly timeoutMs?: number
}

/**
 * Model-based test of the whole service: runs random commands on the service and on a naive reference. Commands sign in
 * and out, change credentials and webhooks, publish events, change receivers, let time pass, restart and crash the
 * process. Every result must equal the reference's, and after every step all requests (order and time) and the states
 * of all deliveries.
 *
 * @param fc fast-check 4
 * @param harness opens the store, as for `storeConformance`; without `reopen`, all instances use the same open store
 * @example
 * it('equals its reference', () => serviceModel(fc, harness).check({ numRuns: 100 }))
 */
export function serviceModel(fc: Fc, harness: StoreHarness, options: ServiceModelOptions = {}): ModelTest {
  const { interleaved = false, maxCommands = 30, build = createHookswitch, timeoutMs = 2_000 } = options
  const listOf = (arbitraries: FastCheck.WeightedArbitrary<ServiceCommand>[]) => {
    const command = fc.oneof(...arbitraries).map((drawn) => new ModelCommand(drawn))
    return fc.array(command, { maxLength: maxCommands, size: 'max' })
  }
  const commands = fc.oneof(
    { weight: 4, arbitrary: listOf(deliveryCommands(fc)) },
    { weight: 2, arbitrary: listOf(loginCommands(fc)) },
    { weight: 1, arbitrary: listOf([...deliveryCommands(fc), ...loginCommands(fc)]) },
  )
  const runCommands = async (list: readonly ModelCommand[], scheduler: FastCheck.Scheduler | undefined) => {
    const run = await beginRun({ harness, build, timeoutMs, scheduler })
    try {
      await fc.asyncModelRun(() => ({ model: run, real: run }), list)
    } finally {
      await endRun(run)
    }
  }
  const property = interleaved
    ? fc.asyncProperty(commands, fc.scheduler(), runCommands)
    : fc.asyncProperty(commands, (list) => runCommands(list, undefined))
  const replayCode = `serviceModel(fc, harness${interleaved ? ', { interleaved: true }' : ''})`
  const name = `the service on ${harness.name}${interleaved ? ', with store results in any order' : ''}`
  return createModelTest(fc, name, replayCode, property as FastCheck.IAsyncProperty<readonly unknown[]>)
}

class ModelCommand implements FastCheck.AsyncCommand<ServiceRun, ServiceRun> {
  constructor(private readonly command: ServiceCommand) {}
  check() {
    return true
  }
  async run(run: ServiceRun) {
    for (const step of this.command.steps(run.reference, run.newName)) await runStep(run, step)
  }
  toString() {
    return this.command.name
  }
}
