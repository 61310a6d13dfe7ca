/** A stream as an async iterable, for the host. */
import type { OpenStream } from './open-stream.js'
import type { StreamEntry } from './subscriber.js'

/**
 * One item of `hs.stream`. `data` is the document that the HTTP API sends. `id`: `lastId` of a stream that continues after the
 * item.
 */
export type StreamItem =
  /** A recorded attempt: as in lists of attempts, with `account_id`, without headers and bodies. */
  | { readonly type: 'attempt'; readonly id: string; readonly data: Readonly<Record<string, unknown>> }
  /** A webhook changed: `id`, `account_id`, `change` (`created`, `changed`, `disabled`, `deleted`), `disable_reason`. */
  | { readonly type: 'webhook'; readonly id: string; readonly data: Readonly<Record<string, unknown>> }
  /** An accepted event: its payload without the custom data of a webhook. */
  | { readonly type: 'event'; readonly id: string; readonly data: Readonly<Record<string, unknown>> }
  /** Attempts of a webhook in one second, where there are more than 200 items: `hook_id`, `ok`, `failed`, `timestamp`. */
  | { readonly type: 'rate'; readonly id: string; readonly data: Readonly<Record<string, unknown>> }
  /** Items are missing after the one with the id `from`: `dropped` of them; null: an unknown number. */
  | { readonly type: 'gap'; readonly data: { readonly from: string; readonly dropped: number | null } }
  /** The last item. `slow`: nothing was read for 30 s; `closing`: the instance closes. */
  | { readonly type: 'end'; readonly data: { readonly reason: 'token' | 'slow' | 'closing' } }

const itemOf = ({ type, id, data }: StreamEntry): StreamItem =>
  (id === undefined ? { type, data } : { type, id, data }) as StreamItem

/**
 * @param open opens the stream when the first item is read
 * @param signal ends the iteration
 */
export function iterateStream(
  open: () => Promise<OpenStream>,
  signal: AbortSignal | undefined,
): AsyncIterable<StreamItem> {
  return {
    [Symbol.asyncIterator]() {
      let opening: Promise<OpenStream> | undefined
      let stream: OpenStream | undefined
      let isDone = false
      function stop(): void {
        isDone = true
        stream?.close()
        signal?.removeEventListener('abort', stop)
      }
      async function begin(): Promise<OpenStream> {
        signal?.addEventListener('abort', stop)
        if (signal?.aborted) stop()
        const opened = await open()
        stream = opened
        if (isDone) opened.close()
        return opened
      }
      async function next(): Promise<IteratorResult<StreamItem, undefined>> {
        while (!isDone) {
          opening ??= begin()
          const taken = await (await opening).take()
          if (taken === 'idle') continue
          if (!taken) break
          if (taken.type === 'end') stop()
          return { done: false, value: itemOf(taken) }
        }
        stop()
        return { done: true, value: undefined }
      }
      // One at a time, in the order of the calls.
      let last: Promise<unknown> = Promise.resolve()
      return {
        next() {
          const result = last.then(next, next)
          last = result
          return result
        },
        async return() {
          stop()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
