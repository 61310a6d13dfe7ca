import { HookswitchError } from '../../errors.js'
import type { WebhookRequest } from './webhook-request.js'

/** The status that the handler answers with, alone or as a field: a `Response` fits. */
export type HandlerAnswer = number | { readonly status: number }

/** A receiver as a plain function of the host. One that throws is no answer. */
export type WebhookHandler = (request: WebhookRequest) => HandlerAnswer | Promise<HandlerAnswer>

/** A receiver behind a URL, the webhook's `uri`; the `fetch` of Node fits. */
export interface FetchTarget {
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

/** What came back: a status, or why there was none. */
export interface Answered {
  readonly status?: number
  readonly error?: string
}

/** One way to both kinds of receiver: what it throws is told, not thrown. */
export function openTarget(
  target: WebhookHandler | FetchTarget,
): (request: WebhookRequest) => Promise<Answered> {
  const ask = askerOf(target)
  return async (request) => {
    let answer: unknown
    try {
      answer = await ask(request)
    } catch (thrown) {
      return { error: thrown instanceof Error ? thrown.message : String(thrown) }
    }
    const status =
      typeof answer === 'object' && answer !== null ? (answer as { status?: unknown }).status : answer
    if (!Number.isSafeInteger(status)) {
      const rule = 'must answer with a status, or with an object that has one'
      throw new HookswitchError(
        'InvalidInput',
        `deliverTo: the handler ${rule}, not with ${String(answer)}`,
        {
          field: 'target',
        },
      )
    }
    return { status: status as number }
  }
}

function askerOf(target: WebhookHandler | FetchTarget): (request: WebhookRequest) => Promise<unknown> {
  if (typeof target === 'function') return async (request) => target(request)
  if (typeof target?.fetch !== 'function') {
    throw new HookswitchError(
      'InvalidOption',
      'deliverTo: target must be a function or an object with fetch',
      {
        field: 'target',
      },
    )
  }
  return async ({ method, url, headers, body }) => {
    const bodiless = method === 'GET' || method === 'DELETE'
    // Redirects are never followed.
    const init = { method, headers: { ...headers }, redirect: 'manual' as const }
    const answer = await target.fetch(url, bodiless ? init : { ...init, body })
    // A body that is left unread holds its connection.
    await answer.arrayBuffer?.()
    return answer
  }
}
