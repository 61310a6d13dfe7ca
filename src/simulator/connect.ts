/**
 * Simulated DNS and dialling. Runs the address guard of the real sender over simulated answers, and checks every
 * address that a node would dial.
 */

import type { Observation, Resolver } from 'hookswitch/adapter'
import type { Resolution } from '../ports.js'
import { resolveAllowedAddresses } from '../send/connect.js'
import { noResponse, type SendFailure } from '../send/error-classifier.js'
import type { SeededRandom } from '../testkit/random.js'
import { type CompiledAddressPolicy, compileAddressPolicy } from '../values/address-policy.js'
import type { NodeLife } from './node-life.js'
import type { Receiver } from './receivers.js'
import type { RunQueue } from './run-queue.js'
import type { ViolationLog } from './violation.js'

/**
 * The guard of the real sender: resolves a host name, within `timeoutMs` milliseconds, to the addresses that may be
 * dialled, or to the failure of the attempt.
 */
export type Approve = (
  deps: { readonly addressPolicy: CompiledAddressPolicy; readonly resolver: Resolver },
  hostname: string,
  timeoutMs: number,
) => Promise<readonly string[] | Exclude<Observation, { kind: 'response' } | { kind: 'cancelled' }>>

interface SimulatedConnectDeps {
  readonly queue: RunQueue
  readonly violations: ViolationLog
  readonly receivers: readonly Receiver[]
  /** Replaces the guard by a broken one. */
  readonly approve: ((real: Approve) => Approve) | undefined
  /** The random stream of hostile DNS answers while that fault is active. */
  hostileDns(): SeededRandom | undefined
}

/** Connects to a host: returns the receiver that listens there, or a failure. */
export type Connect = (life: NodeLife, host: string) => Promise<Receiver | SendFailure>

/** One public address per receiver; no other public address exists in the simulation. */
const addressOf = (number: number) => `93.184.216.${number}`
const isPublic = (address: string) => /^93\.184\.216\.\d{1,3}$/.test(address)
const LOOKUP_MS = 5000

/** Addresses that an attacker may put into a DNS zone, alone or beside a public address (SSRF). */
const FORBIDDEN = [
  '127.0.0.1',
  '10.0.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '::1',
  '::',
  'fd00::1',
  'fe80::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '0x7f.1',
  '127.1',
  'localhost',
]

function hostileResolution(random: SeededRandom, honest: string): Resolution {
  const bad = random.pick(FORBIDDEN)
  const addresses = (...list: readonly string[]): Resolution => ({ kind: 'addresses', addresses: list })
  return random.pick([
    () => addresses(bad),
    () => addresses(honest, bad),
    () => addresses(bad, honest),
    () => addresses(...new Array<string>(999).fill(honest), bad),
    () => addresses(),
    // DNS rebinding: an honest answer between hostile ones.
    () => addresses(honest),
    () => addresses(honest),
    (): Resolution => ({ kind: 'missing', detail: 'NXDOMAIN' }),
    (): Resolution => ({ kind: 'unreachable', detail: 'SERVFAIL' }),
  ])()
}

/** Connects for all nodes. I14: a node dials only public addresses from the answer that the guard approved. */
export function createConnect(deps: SimulatedConnectDeps): Connect {
  const { queue, violations, receivers } = deps
  const addressPolicy = compileAddressPolicy({ allowLocal: false, allow: [] })
  const guard = deps.approve?.(resolveAllowedAddresses) ?? resolveAllowedAddresses
  const honest = new Map(receivers.map(({ name }, index) => [name, addressOf(index + 1)]))
  const listening = new Map(receivers.map((receiver, index) => [addressOf(index + 1), receiver]))

  function lookUp(name: string): Resolution {
    const address = honest.get(name)
    if (address === undefined) return { kind: 'missing', detail: 'no such host name' }
    const random = deps.hostileDns()
    return random ? hostileResolution(random, address) : { kind: 'addresses', addresses: [address] }
  }

  return async (life, host) => {
    let answer: readonly string[] = []
    const resolver = {
      async resolve(name: string) {
        const resolution = lookUp(name)
        if (resolution.kind === 'addresses') answer = resolution.addresses
        return resolution
      },
      close() {},
    }
    const approved = await guard({ addressPolicy, resolver }, host, LOOKUP_MS)
    if ('kind' in approved) return approved
    // Every approved address counts: a dialler may try each of them.
    for (const address of approved) {
      const isFromAnswer = address === host || answer.includes(address)
      if (isPublic(address) && isFromAnswer) continue
      const why = isFromAnswer ? 'is not public' : 'was not in the checked answer'
      violations.add('I14', queue.now(), `${life.name} dials ${address} for ${host}, which ${why}`, host)
    }
    return listening.get(approved[0]!) ?? noResponse('connection', 'refused', 'nobody listens there')
  }
}
