import { admitStaged } from './admission.js'
import type { Core } from './core.js'
import type { PublishDoors } from './publish.js'
import { keepPruning } from './retention.js'

/** What a running instance does by itself, beside its dispatcher. */
export interface Background {
  /** Looks for events that came in the host's transactions. */
  wake(): void
  /** Resolves when none of it is under way any more. */
  stop(): Promise<void>
}

export function startBackground(
  core: Core,
  publishing: PublishDoors,
  limits: Parameters<typeof keepPruning>[1],
): Background {
  const admitting = admitStaged(core, publishing)
  const { attemptsPerWebhook, retentionDays } = limits
  const stopPruning = keepPruning(core, { attemptsPerWebhook, retentionDays })
  return {
    wake: () => admitting?.look(),
    async stop() {
      await Promise.all([stopPruning(), admitting?.stop()])
    },
  }
}
