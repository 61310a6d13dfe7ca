import type { Hookswitch } from '../hookswitch.js'
import type { Core } from './core.js'

export function readNodeHealth({
  clock,
  dispatcher,
}: Pick<Core, 'clock' | 'dispatcher'>): ReturnType<Hookswitch['nodeHealth']> {
  const wallMs = clock.now() - clock.monotonic()
  return {
    outages: dispatcher
      .outages()
      .map(({ network, sinceMs }) => ({ network, sinceMs: Math.round(wallMs + sinceMs) })),
    ...(clock.isDeviating() && { clockDeviationSeconds: Math.round(clock.deviationMs() / 1000) }),
  }
}
