import type { Core } from './core.js'

/** What hinders a node, although it accepts work. */
export interface NodeHealth {
  /** Networks from which no receiver answers this node, by the addresses that it calls. */
  readonly outages: readonly {
    /** The internet, private networks, or this machine. */
    readonly network: 'public' | 'private' | 'loopback'
    /** Time of the first attempt in vain, in Unix milliseconds. */
    readonly sinceMs: number
  }[]
  /** How far the clock of this machine is ahead of the store's, in seconds; negative: behind. Absent: less than about 30. */
  readonly clockDeviationSeconds?: number
}

export function readNodeHealth({ clock, dispatcher }: Pick<Core, 'clock' | 'dispatcher'>): NodeHealth {
  const wallMs = clock.now() - clock.monotonic()
  return {
    outages: dispatcher
      .outages()
      .map(({ network, sinceMs }) => ({ network, sinceMs: Math.round(wallMs + sinceMs) })),
    ...(clock.isDeviating() && { clockDeviationSeconds: Math.round(clock.deviationMs() / 1000) }),
  }
}
