import type { Dialled, Observation } from '../../ports.js'
import type { Network } from '../../values/address.js'
import { originOf } from '../../values/origin.js'

/**
 * Detects that this node itself is cut off from a network: several of its origins were tried recently and none of them
 * gave an HTTP answer. During an outage failures are not charged to endpoints. An HTTP status of an origin of the same
 * network, whatever it is, ends the outage.
 *
 * Origins are counted by the network of the address that was dialled: a receiver on this machine says nothing about the
 * internet. A name that does not resolve counts for the network where it was last, else for the internet. What a proxy
 * answers itself is no answer of an origin.
 */
interface OutageDetector {
  /** The network that the result of an attempt says something about; `undefined`: none. */
  networkOf(uri: string, observation: Observation, dialled: Dialled | undefined): Network | undefined
  /** Records the result of an attempt. `now`: monotonic, ms. */
  observe(uri: string, observation: Observation, network: Network, now: number): void
  isOutage(network: Network, now: number): boolean
  /** The outages now, at most one of each network. */
  outages(now: number): readonly Outage[]
}

/** A network from which nothing answers. */
export interface Outage {
  readonly network: Network
  /** The first try in vain, monotonic ms. */
  readonly sinceMs: number
}

/** The begin or end of an outage. */
export type OutageChange =
  | { readonly kind: 'began'; readonly network: Network; readonly origins: number }
  /** `hasAnswer`: false where too few origins were tried to know more. */
  | {
      readonly kind: 'ended'
      readonly network: Network
      readonly durationMs: number
      readonly hasAnswer: boolean
    }

/** The period in which the origins must have been tried, ms. */
const OUTAGE_WINDOW_MS = 60_000
/** The number of origins that must have been tried in vain. */
const OUTAGE_MIN_ORIGINS = 5
/**
 * An outage lasts this long after it was last detected, unless an origin answers, ms. During an outage
 * retries are up to 10 min apart, so fewer than five origins would be tried within a minute.
 */
const OUTAGE_HOLD_MS = 720_000
/** Maximum number of silent origins in memory, by network: a few are enough to detect an outage. */
const MAX_SILENT = 64
/** URIs that are known to lead elsewhere than to the internet. */
const MAX_INTERNAL = 1_000

class NetworkState {
  /** Origins that did not answer, with the time of their last failure; the oldest first. */
  private readonly silent = new Map<string, number>()
  private lastAnswerMs = Number.NEGATIVE_INFINITY
  private untilMs = 0
  sinceMs: number | undefined

  constructor(
    private readonly network: Network,
    private readonly onChange: (change: OutageChange) => void,
  ) {}

  answered(now: number): void {
    this.lastAnswerMs = now
    if (this.silent.size > 0) this.silent.clear()
    if (this.sinceMs !== undefined) this.end(now, true)
  }

  failed(origin: string, now: number): void {
    this.silent.delete(origin)
    this.silent.set(origin, now)
    if (this.silent.size > MAX_SILENT) this.silent.delete(this.silent.keys().next().value!)
    this.update(now)
  }

  update(now: number): void {
    if (this.sinceMs !== undefined && now >= this.untilMs) this.end(now, false)
    if (this.silent.size < OUTAGE_MIN_ORIGINS || now - this.lastAnswerMs < OUTAGE_WINDOW_MS) return
    const recent = [...this.silent.values()].filter((atMs) => now - atMs < OUTAGE_WINDOW_MS)
    if (recent.length < OUTAGE_MIN_ORIGINS) return
    this.untilMs = now + OUTAGE_HOLD_MS
    if (this.sinceMs !== undefined) return
    this.sinceMs = recent[0]!
    this.onChange({ kind: 'began', network: this.network, origins: recent.length })
  }

  private end(now: number, hasAnswer: boolean): void {
    const durationMs = now - this.sinceMs!
    this.sinceMs = undefined
    this.onChange({ kind: 'ended', network: this.network, durationMs, hasAnswer })
  }
}

export function createOutageDetector(onChange: (change: OutageChange) => void): OutageDetector {
  const states: Readonly<Record<Network, NetworkState>> = {
    public: new NetworkState('public', onChange),
    private: new NetworkState('private', onChange),
    loopback: new NetworkState('loopback', onChange),
  }
  /** Where URIs led that do not lead to the internet; the oldest first. */
  const internal = new Map<string, Network>()

  return {
    networkOf(uri, observation, dialled) {
      if (observation.kind === 'cancelled') return undefined
      // A fault of this process or of the proxy says nothing about a network; one of the name server does.
      if (observation.kind === 'own_fault' && dialled !== 'unresolved') return undefined
      // A blocked address is never dialled.
      if (observation.kind === 'no_response' && observation.failure === 'blocked_address') return undefined
      return dialled === undefined || dialled === 'unresolved' ? (internal.get(uri) ?? 'public') : dialled
    },
    observe(uri, observation, network, now) {
      if (network === 'public') internal.delete(uri)
      else if (internal.get(uri) !== network) {
        internal.set(uri, network)
        if (internal.size > MAX_INTERNAL) internal.delete(internal.keys().next().value!)
      }
      if (observation.kind === 'response') states[network].answered(now)
      else states[network].failed(originOf(uri), now)
    },
    isOutage(network, now) {
      states[network].update(now)
      return states[network].sinceMs !== undefined
    },
    outages(now) {
      return Object.entries(states).flatMap(([network, state]) => {
        state.update(now)
        return state.sinceMs === undefined ? [] : [{ network: network as Network, sinceMs: state.sinceMs }]
      })
    },
  }
}
