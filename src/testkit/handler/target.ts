/** Calls the handler under test: a function, or a server behind `fetch`. */
import { HookswitchError } from '../../errors.js'
import { badOption } from '../check-options.js'
import type { WebhookRequest } from './webhook-request.js'

/** The handler's status, alone or as a field: a `Response` is accepted. */
export type HandlerResponse = number | { readonly status: number }

/** A handler as a function. If it throws, the request counts as unanswered. */
export type WebhookHandler = (request: WebhookRequest) => HandlerResponse | Promise<HandlerResponse>

/** A handler behind the webhook's `uri`. */
export interface FetchTarget {
  /** Sends the request; the global `fetch` of Node is accepted. Redirects are not followed. */
  readonly fetch: (
    url: string,
    init: {
      readonly method: string
      readonly headers: Record<string, string>
      readonly body?: string
      readonly redirect: 'manual'
    },
  ) => Promise<{ readonly status: number; arrayBuffer?(): Promise<unknown> }>
}

/** Result of one request: a status, or the error if there was no response. */
export interface HandlerResult {
  /** HTTP status of the response. */
  readonly status?: number
  /** Message of what the handler or `fetch` threw. */
  readonly error?: string
}

/**
 * Returns a function that sends a request to either kind of handler. Errors of the handler are part of its result.
 *
 * @throws `InvalidOption` if the target is neither kind
 */
export function createSender(
  target: WebhookHandler | FetchTarget,
): (request: WebhookRequest) => Promise<HandlerResult> {
  const call = callerOf(target)
  return async (request) => {
    let response: unknown
    try {
      response = await call(request)
    } catch (thrown) {
      return { error: thrown instanceof Error ? thrown.message : String(thrown) }
    }
    const status =
      typeof response === 'object' && response !== null ? (response as { status?: unknown }).status : response
    if (!Number.isSafeInteger(status)) {
      const message = `deliverTo: the handler must return a status or an object with a status, not ${String(response)}`
      throw new HookswitchError('InvalidInput', message, { field: 'target' })
    }
    return { status: status as number }
  }
}

function callerOf(target: WebhookHandler | FetchTarget): (request: WebhookRequest) => Promise<unknown> {
  if (typeof target === 'function') return async (request) => target(request)
  if (typeof target?.fetch !== 'function') {
    throw badOption('deliverTo', 'target', 'must be a function or an object with fetch')
  }
  return async ({ method, url, headers, body }) => {
    const isBodiless = method === 'GET' || method === 'DELETE'
    // hookswitch never follows redirects.
    const init = { method, headers: { ...headers }, redirect: 'manual' as const }
    const response = await target.fetch(url, isBodiless ? init : { ...init, body })
    // An unread body keeps its connection busy.
    await response.arrayBuffer?.()
    return response
  }
}
