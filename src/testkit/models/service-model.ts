import type * as FastCheck from 'fast-check'
import { createHookswitch, type Hookswitch } from '../../hookswitch.js'
import type { HookswitchOptions } from '../../options.js'
import type { StoreHarness } from '../../store/conformance/index.js'
import type { Store } from '../../store/contract.js'
import { type Fc, type ModelTest, modelTest } from './check.js'
import { deliveryWishes, loginWishes, type ServiceWish } from './service-wishes.js'
import { carryOutStep, closeWorld, openWorld, type ServiceWorld } from './service-world.js'

export interface ServiceModelOptions {
  /** Most wishes in one run. Default 30. */
  readonly maxCommands?: number
  /** Each call of the store is carried out, and answered, when fast-check's scheduler draws it. */
  readonly interleaved?: boolean
  /** How an instance is made. Default: `createHookswitch`. For hosts that wrap it, or bring options of their own. */
  readonly build?: (options: HookswitchOptions<Store>) => Hookswitch
  /** Real milliseconds in which what is expected must have happened. Default 2,000: only a failing run waits for them. */
  readonly patienceMs?: number
}

/**
 * The whole service beside a naive one, both told the same: logins by key and password, tokens and their ends, webhooks
 * with revisions, events with idempotency keys, receivers that fail or are slow, time, restarts, crashes. Every answer
 * must be the naive one's, and after every step what reached whom, in which order and when, and how every delivery
 * stands.
 *
 * @param fc fast-check 4
 * @param harness as for `storeConformance`; where it has no `reopen`, an instance is followed by another on the same store
 * @example
 * it('is what its model is', () => serviceModel(fc, harness).check({ numRuns: 100 }))
 */
export function serviceModel(fc: Fc, harness: StoreHarness, options: ServiceModelOptions = {}): ModelTest {
  const { interleaved = false, maxCommands = 30, build = createHookswitch, patienceMs = 2_000 } = options
  const listOf = (wishes: FastCheck.WeightedArbitrary<ServiceWish>[]) => {
    const command = fc.oneof(...wishes).map((wish) => new Wished(wish))
    return fc.array(command, { maxLength: maxCommands, size: 'max' })
  }
  const commands = fc.oneof(
    { weight: 4, arbitrary: listOf(deliveryWishes(fc)) },
    { weight: 2, arbitrary: listOf(loginWishes(fc)) },
    { weight: 1, arbitrary: listOf([...deliveryWishes(fc), ...loginWishes(fc)]) },
  )
  const run = async (list: readonly Wished[], scheduler: FastCheck.Scheduler | undefined) => {
    const world = await openWorld({ harness, build, patienceMs, scheduler })
    try {
      await fc.asyncModelRun(() => ({ model: world, real: world }), list)
    } finally {
      await closeWorld(world)
    }
  }
  const property = interleaved
    ? fc.asyncProperty(commands, fc.scheduler(), run)
    : fc.asyncProperty(commands, (list) => run(list, undefined))
  const replay = `serviceModel(fc, harness${interleaved ? ', { interleaved: true }' : ''})`
  const name = `the service on ${harness.name}${interleaved ? ', its answers in any order' : ''}`
  return modelTest(fc, name, replay, property as FastCheck.IAsyncProperty<readonly unknown[]>)
}

class Wished implements FastCheck.AsyncCommand<ServiceWorld, ServiceWorld> {
  constructor(private readonly wish: ServiceWish) {}
  check() {
    return true
  }
  async run(world: ServiceWorld) {
    for (const step of this.wish.steps(world.naive, world.newName)) await carryOutStep(world, step)
  }
  toString() {
    return this.wish.what
  }
}
