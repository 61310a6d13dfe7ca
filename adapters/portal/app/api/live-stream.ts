/** The live stream of an account, read through fetch because `EventSource` cannot send the token as a header. */

import { expire, type Session } from '../state/session.js'
import { createSseParser, type SseItem } from '../text/sse.js'
import { API_URL } from './settings.js'

interface StreamOptions {
  readonly session: Session
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
  readonly onItem: (item: SseItem) => void
  readonly onState: (state: StreamState) => void
}

/** `absent`: the service has no stream. */
export type StreamState = 'connecting' | 'open' | 'waiting' | 'absent' | 'refused'

const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 30_000
const ABSENT = [404, 405, 501]

/** Reads until the returned function is called; connects again after a pause, from the last item. */
export function openStream(options: StreamOptions): () => void {
  const controller = new AbortController()
  void run(options, controller.signal)
  return () => controller.abort()
}

async function run(options: StreamOptions, signal: AbortSignal): Promise<void> {
  let lastId = ''
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    options.onState('connecting')
    try {
      const response = await fetch(urlOf(options), {
        headers: {
          accept: 'text/event-stream',
          'x-auth-token': options.session.token,
          ...(lastId === '' ? {} : { 'last-event-id': lastId }),
        },
        cache: 'no-store',
        credentials: 'omit',
        signal,
      })
      if (response.status === 401) {
        expire(options.session)
        return options.onState('refused')
      }
      if (ABSENT.includes(response.status)) return options.onState('absent')
      if (response.status === 403) return options.onState('refused')
      // An id that the service no longer knows: begin anew.
      if (response.status === 400 && lastId !== '') lastId = ''
      else if (response.ok && response.body) {
        options.onState('open')
        const parser = createSseParser()
        const decoder = new TextDecoder()
        const reader = response.body.getReader()
        for (;;) {
          const { done, value } = await reader.read()
          if (done) break
          waitMs = FIRST_WAIT_MS
          for (const item of parser.push(decoder.decode(value, { stream: true }))) {
            lastId = item.id
            options.onItem(item)
          }
        }
        waitMs = parser.retryMs ?? waitMs
      }
    } catch {
      // The connection is lost, or the stream was closed here.
    }
    if (signal.aborted) return
    options.onState('waiting')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
}

function urlOf({ accountId, query }: StreamOptions): string {
  const search = new URLSearchParams(query).toString()
  const base = API_URL.replace(/(?<!\/)\/+$/, '')
  return `${base}/v1/accounts/${encodeURIComponent(accountId)}/stream${search === '' ? '' : `?${search}`}`
}
