/** Errors between the host's thread and the worker. */
import { HookswitchError, isNotWritten, notWritten } from 'hookswitch/store'

/** A HookswitchError as plain data: a structured clone of an error loses its fields. */
export interface SerializedError {
  readonly code: HookswitchError['code']
  readonly message: string
  readonly details: Pick<HookswitchError, 'field' | 'failures' | 'id' | 'retryAfterSeconds'>
  readonly cause: { readonly message: string; readonly errcode?: number } | undefined
  readonly isNotWritten: boolean
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
