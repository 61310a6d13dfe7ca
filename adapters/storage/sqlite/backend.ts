import type { Call } from './call.js'
import type { WakeUp } from './wake-ups.js'

/** An open database, wherever it lives. */
export interface Backend {
  ask(call: Call): Promise<unknown>
  secret(): Promise<string>
  /** How often webhooks have changed, as of the last answer: the same number, the same webhooks. */
  webhookChanges(): number
  /** Resolves when what was asked before is answered, and nothing is left open. */
  close(): Promise<void>
}

/** What it tells. */
export interface BackendDoors {
  /** What the host should know. */
  warn(sentence: string): void
  wake(wakeUp: WakeUp): void
  /** It is gone, and everything asked of it rejects from now on. */
  lost(reason: string): void
}
