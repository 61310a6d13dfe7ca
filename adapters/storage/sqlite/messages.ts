/**
 * Messages between the host's thread and the worker. They are structured clones, which preserve `undefined`, `Infinity`
 * and maps; groups and their results are encoded before (`group-encoding.ts`), and buffers are moved.
 */
import { HookswitchError, isNotWritten, notWritten } from 'hookswitch/store'
import type { RpcRequest, RpcResult } from './rpc-methods.js'

/** Upper bound of requests in a message, and roughly in a transaction: more would only delay the first of them. */
export const MAX_REQUESTS_PER_MESSAGE = 200

/** A request with an id that the client assigns. */
export interface NumberedRequest extends RpcRequest {
  readonly id: number
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

/** A HookswitchError as plain data: a structured clone of an error loses its fields. */
export interface SerializedError {
  readonly code: HookswitchError['code']
  readonly message: string
  readonly details: Pick<HookswitchError, 'field' | 'failures' | 'id' | 'retryAfterSeconds'>
  readonly cause: { readonly message: string; readonly errcode?: number } | undefined
  readonly isNotWritten: boolean
}

export function serializeResult(id: number, result: RpcResult): ResultMessage {
  return 'error' in result ? { id, error: serializeError(result.error) } : { id, value: result.value }
}

export function serializeError(error: HookswitchError): SerializedError {
  const { code, message, cause, field, failures, id, retryAfterSeconds } = error
  const details = Object.fromEntries(
    Object.entries({ field, failures, id, retryAfterSeconds }).filter(([, value]) => value !== undefined),
  )
  return { code, message, details, cause: serializeCause(cause), isNotWritten: isNotWritten(error) }
}

export function deserializeError(serialized: SerializedError): HookswitchError {
  const { code, message, details, cause } = serialized
  const { message: reason, ...rest } = cause ?? { message: '' }
  const error = new HookswitchError(code, message, {
    ...details,
    ...(cause ? { cause: Object.assign(new Error(reason), rest) } : {}),
  })
  return serialized.isNotWritten ? notWritten(error) : error
}

function serializeCause(cause: unknown): SerializedError['cause'] {
  if (cause === undefined) return undefined
  const { errcode } = Object(cause) as { errcode?: unknown }
  const message = cause instanceof Error ? cause.message : String(cause)
  return typeof errcode === 'number' ? { message, errcode } : { message }
}
