import type { Page } from './list.js'

/** What surrounds every answer, whatever it says. */
export interface Frame {
  readonly requestId: string
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly node: string
  /** Of this package; only for a caller with a valid token. */
  readonly version?: string | undefined
  /** The token that was used, or the one that a login made. */
  readonly authToken?: string | undefined
  readonly indent?: boolean
}

/** What a success adds to its data. */
export interface SuccessExtras {
  readonly revision?: string | undefined
  /** Present for lists; `page_size` counts the items of this page. */
  readonly page?: Page | undefined
  /** The `start_key` that the client sent. */
  readonly startKey?: string | undefined
}

const write = (value: unknown, indent: boolean | undefined) =>
  indent === true ? JSON.stringify(value, null, 2) : JSON.stringify(value)

/**
 * A success as text; what is `undefined` is left out by JSON.
 *
 * @param written the data as JSON text, where it has been written before
 */
export function successBody(
  data: unknown,
  frame: Frame,
  extras: SuccessExtras = {},
  written?: string,
): string {
  if (written === undefined) return write(around(data, frame, extras), frame.indent)
  if (frame.indent) return write(around(JSON.parse(written), frame, extras), true)
  return `{"data":${written},${JSON.stringify(around(undefined, frame, extras)).slice(1)}`
}

function around(data: unknown, frame: Frame, extras: SuccessExtras): object {
  return {
    data,
    status: 'success',
    auth_token: frame.authToken,
    request_id: frame.requestId,
    revision: extras.revision,
    timestamp: frame.timestamp,
    version: frame.version,
    node: frame.node,
    page_size: extras.page?.items.length,
    start_key: extras.startKey,
    next_start_key: extras.page?.nextStartKey,
  }
}

/** An error as text. `data` is an object always: clients call methods on it. */
export function errorBody(
  status: number,
  message: string,
  data: Readonly<Record<string, unknown>>,
  frame: Partial<Frame>,
): string {
  return write(
    {
      data,
      error: String(status),
      message,
      status: 'error',
      request_id: frame.requestId,
      timestamp: frame.timestamp,
      node: frame.node,
      auth_token: frame.authToken,
      version: frame.version,
    },
    frame.indent,
  )
}
