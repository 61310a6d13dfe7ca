import type { Core } from './core.js'
import { relayStagedEvents } from './inbox-relay.js'
import type { PublishDeps } from './publish.js'
import { type RetentionLimits, startRetention } from './retention.js'

/** The tasks that a running instance performs beside its dispatcher: the inbox relay and retention. */
export interface Background {
  /** Checks the inbox now. */
  wake(): void
  /** Starts no further work; resolves when the work in progress has ended. */
  stop(): Promise<void>
}

/** Starts the background tasks of an instance. */
export function startBackground(core: Core, publishing: PublishDeps, limits: RetentionLimits): Background {
  const relay = relayStagedEvents(core, publishing)
  const stopRetention = startRetention(core, limits)
  return {
    wake: () => relay?.trigger(),
    async stop() {
      await Promise.all([stopRetention(), relay?.stop()])
    },
  }
}
