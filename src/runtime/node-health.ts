import type { Core } from './core.js'

/** What hinders a node, although it accepts work: as `Hookswitch.nodeHealth`. */
export function readNodeHealth({ clock, dispatcher }: Pick<Core, 'clock' | 'dispatcher'>) {
  const wallMs = clock.now() - clock.monotonic()
  return {
    outages: dispatcher
      .outages()
      .map(({ network, sinceMs }) => ({ network, sinceMs: Math.round(wallMs + sinceMs) })),
    ...(clock.isDeviating() && { clockDeviationSeconds: Math.round(clock.deviationMs() / 1000) }),
  }
}
