import type { Core } from './core.js'
import { relayStagedEvents } from './inbox-relay.js'
import type { PublishDeps } from './publish.js'
import { startReplayRunner } from './replay-runner.js'
import { type RetentionLimits, startRetention } from './retention.js'

/** The tasks that a running instance performs beside its dispatcher: the inbox relay, replays and retention. */
export interface Background {
  /** Checks the inbox and the replay jobs now. */
  wake(): void
  /** Starts no further work; resolves when the work in progress has ended. */
  stop(): Promise<void>
}

/** Starts the background tasks of an instance. */
export function startBackground(core: Core, publishing: PublishDeps, limits: RetentionLimits): Background {
  const relay = relayStagedEvents(core, publishing)
  const replays = startReplayRunner(core)
  const stopRetention = startRetention(core, limits)
  core.events.on('webhook_backlog_full', replays.backlogFull)
  return {
    wake() {
      relay?.trigger()
      replays.wake()
    },
    async stop() {
      core.events.off('webhook_backlog_full', replays.backlogFull)
      await Promise.all([stopRetention(), replays.stop(), relay?.stop()])
    },
  }
}
