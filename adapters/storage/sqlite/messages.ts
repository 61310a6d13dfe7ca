/**
 * Messages between the host's thread and the worker. They are structured clones, which preserve `undefined`, `Infinity`
 * and maps; groups and their results are encoded before (`group-encoding.ts`), and buffers are moved.
 */
import type { ExitGate } from './exit-gate.js'
import type { OpenRequest } from './open.js'
import type { RpcRequest, RpcResult } from './rpc-methods.js'
import { type SerializedError, serializeError } from './serialized-error.js'

/** Upper bound of requests in a message, and roughly in a transaction: more would only delay the first of them. */
export const MAX_REQUESTS_PER_MESSAGE = 200

/** A request with an id that the client assigns. */
export interface NumberedRequest extends RpcRequest {
  readonly id: number
}

/** What the worker starts with. */
export interface WorkerData {
  readonly request: OpenRequest
  readonly gate: ExitGate
}

/** From the host's thread to the worker. */
export type ClientMessage =
  | { readonly kind: 'requests'; readonly requests: readonly NumberedRequest[] }
  | { readonly kind: 'secret'; readonly id: number }
  | { readonly kind: 'replaceSecret'; readonly id: number; readonly secret: string }
  | { readonly kind: 'close' }

/** From the worker to the host's thread. */
export type WorkerMessage =
  | { readonly kind: 'opened' }
  /** The database could not be opened; the worker ends. */
  | { readonly kind: 'openFailed'; readonly error: SerializedError }
  | {
      readonly kind: 'results'
      readonly results: readonly ResultMessage[]
      /** The subscribers are to be called. */
      readonly hasNotice: boolean
      readonly webhookVersion: number
    }
  | { readonly kind: 'warning'; readonly sentence: string }

/** The result of the request with this id. */
export type ResultMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SerializedError }

export function serializeResult(id: number, result: RpcResult): ResultMessage {
  return 'error' in result ? { id, error: serializeError(result.error) } : { id, value: result.value }
}
