import type { Resolution } from '../../ports.js'
import { approve } from '../../send/connect.js'
import { type NoAnswer, noResponse } from '../../send/failure.js'
import { compilePolicy } from '../../values/address-policy.js'
import type { SeededRandom } from '../random.js'
import type { Findings } from './finding.js'
import type { NodeLife } from './node-life.js'
import type { Receiver } from './receivers.js'
import type { RunQueue } from './run-queue.js'

/** The way from a host's name to its receiver: look-up, the guard of the real sender, dialling. */
export type Approve = typeof approve

export interface NameDoors {
  readonly queue: RunQueue
  readonly findings: Findings
  readonly receivers: readonly Receiver[]
  /** A guard with something wrong. */
  readonly approve: ((real: Approve) => Approve) | undefined
  /** Set while name servers lie. */
  lieOf(): SeededRandom | undefined
}

/** Connects to a host: the receiver that listens there, or what came of it. */
export type Connect = (life: NodeLife, host: string) => Promise<Receiver | NoAnswer>

/** Public addresses, one for each receiver; there are no others in the world. */
const addressOf = (number: number) => `93.184.216.${number}`
const isPublic = (address: string) => /^93\.184\.216\.\d{1,3}$/.test(address)
const LOOKUP_MS = 5000

/** What somebody may put into a zone to have us call where only we can: alone, before and behind an honest address. */
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

function lie(draw: SeededRandom, honest: string): Resolution {
  const bad = draw.pick(FORBIDDEN)
  const addresses = (...list: readonly string[]): Resolution => ({ kind: 'addresses', addresses: list })
  return draw.pick([
    () => addresses(bad),
    () => addresses(honest, bad),
    () => addresses(bad, honest),
    () => addresses(...new Array<string>(999).fill(honest), bad),
    () => addresses(),
    // This time the truth: what was judged a moment ago says nothing of it.
    () => addresses(honest),
    () => addresses(honest),
    (): Resolution => ({ kind: 'missing', detail: 'NXDOMAIN' }),
    (): Resolution => ({ kind: 'unreachable', detail: 'SERVFAIL' }),
  ])()
}

/** Connections of all nodes, each judged: nobody dials what is not public, or was not in the answer that was judged. */
export function createConnect(doors: NameDoors): Connect {
  const { queue, findings, receivers } = doors
  const policy = compilePolicy({ allowLocal: false, allow: [] })
  const guard = doors.approve?.(approve) ?? approve
  const honest = new Map(receivers.map(({ name }, index) => [name, addressOf(index + 1)]))
  const listening = new Map(receivers.map((receiver, index) => [addressOf(index + 1), receiver]))

  function lookUp(name: string): Resolution {
    const address = honest.get(name)
    if (address === undefined) return { kind: 'missing', detail: 'no such host name' }
    const draw = doors.lieOf()
    return draw ? lie(draw, address) : { kind: 'addresses', addresses: [address] }
  }

  return async (life, host) => {
    let answer: readonly string[] = []
    const resolver = {
      async resolve(name: string) {
        const found = lookUp(name)
        if (found.kind === 'addresses') answer = found.addresses
        return found
      },
      close() {},
    }
    const approved = await guard({ policy, resolver }, host, LOOKUP_MS)
    if ('kind' in approved) return approved
    // A dialler may try each of them.
    for (const address of approved) {
      const isJudged = address === host || answer.includes(address)
      if (isPublic(address) && isJudged) continue
      const what = isJudged ? 'is not public' : 'was not in the answer that was judged'
      findings.add('I14', queue.now(), `${life.name} dials ${address} for ${host}, which ${what}`, host)
    }
    return listening.get(approved[0]!) ?? noResponse('connection', 'nobody listens there')
  }
}
