import type { NODE_PARTS } from '../metrics.js'
import type { Core } from './core.js'

/** What keeps a node from its work. */
interface Problem {
  readonly part: (typeof NODE_PARTS)[number]
  readonly reason: string
  /** Unix ms. */
  readonly sinceMs?: number
}

/** How long a node may learn nothing of others until that is a problem, ms: it reads at each renewal of its lease, every 10 s. */
const FEED_MS = 30_000

/** As `Hookswitch.nodeHealth`. */
export function readNodeHealth(core: Pick<Core, 'clock' | 'dispatcher' | 'storeWatch'>) {
  const { clock, dispatcher, storeWatch } = core
  const wallMs = clock.now() - clock.monotonic()
  storeWatch.ask()
  return {
    problems: readProblems(core),
    outages: dispatcher
      .outages()
      .map(({ network, sinceMs }) => ({ network, sinceMs: Math.round(wallMs + sinceMs) })),
    ...(clock.isDeviating() && { clockDeviationSeconds: Math.round(clock.deviationMs() / 1000) }),
  }
}

function readProblems({
  clock,
  dispatcher,
  storeWatch,
}: Pick<Core, 'clock' | 'dispatcher' | 'storeWatch'>): readonly Problem[] {
  const problems: Problem[] = []
  const store = storeWatch.problem()
  if (store) problems.push({ part: 'store', ...store })
  if (!dispatcher.hasLease())
    problems.push({
      part: 'lease',
      reason:
        'the lease of this node has ended or is about to: it sends nothing until the store grants it again',
    })
  const readMs = dispatcher.readMs()
  if (clock.monotonic() - readMs >= FEED_MS)
    problems.push({
      part: 'feed',
      reason: 'this node cannot read what other nodes have accepted and changed',
      sinceMs: Math.round(clock.now() - (clock.monotonic() - readMs)),
    })
  return problems
}
