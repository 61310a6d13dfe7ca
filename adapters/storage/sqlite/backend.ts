/** The interface between the store and its database, wherever the database runs. */
import type { RpcRequest } from './rpc-methods.js'

/** An open database, in this thread or in a worker. */
export interface Backend {
  request(call: RpcRequest): Promise<unknown>
  secret(): Promise<string>
  /** Replaces the key file, if there is one. */
  replaceSecret(secret: string): Promise<void>
  /** Number of webhook changes as of the last response: as long as it is the same, so are the webhooks. */
  webhookVersion(): number
  /** Resolves when all earlier requests have been answered and everything is closed. */
  close(): Promise<void>
}

/** Callbacks of a backend. */
export interface BackendDeps {
  /** Logs a problem that the host should fix. */
  warn(sentence: string): void
  /** Calls the subscribers. */
  notify(): void
  /** The backend has failed: all of its requests reject from now on. */
  onLost(reason: string): void
}
