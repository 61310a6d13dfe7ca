/** A list as the body of a response: whole up to 1 MiB, above it a stream whose items are read as they are written. */
import { type EnvelopeFields, listText, type PageFields } from '../wire/envelope.js'
import { type ListRequest, MAX_PAGE_BYTES } from '../wire/list.js'
import type { ResponseStream } from './message.js'
import { type ItemTexts, maxBytesOf, type RowSource, readItems } from './paginate.js'

/** Characters of items after which a part of a stream is written. */
const MAX_PART = 65_536

/** A list of which the first items are read. */
export interface ListBody {
  /** The text of the whole response; `undefined`: it is a stream. */
  readonly body?: string
  readonly stream?: ResponseStream
}

export interface ListReaderDeps {
  /** Called between the steps of the work (`values/yielding`). */
  readonly yieldWhenDue: () => Promise<void> | undefined
  /** Limits how much is read at once. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Called once if the rest of a stream cannot be read: its connection is closed before the end of the list. */
  readonly onFault: (thrown: unknown) => void
  /** Called once when a stream is complete or its client has gone. */
  readonly onEnd?: (() => void) | undefined
}

/** Reads the first items of a list: all of them, or so many that the rest is better streamed. */
export async function openList<Row, Place>(
  request: ListRequest,
  source: RowSource<Row, Place>,
  fields: EnvelopeFields,
  deps: ListReaderDeps,
): Promise<ListBody> {
  const text = listText(fields)
  const items = readItems(request, source, text.item, maxBytesOf(request))
  const first = await deps.run(() => takeItems(items, MAX_PAGE_BYTES, deps))
  const page: PageFields = { count: first.count, nextStartKey: first.nextStartKey }
  const start = text.open + first.text
  if (first.isComplete) return { body: start + text.close(page, request.startKey) }
  let { count } = first
  const rest = async () => {
    const taken = await deps.run(() => takeItems(items, MAX_PART, deps))
    const part = taken.count > 0 ? `,${taken.text}` : ''
    count += taken.count
    if (!taken.isComplete) return { part, isLast: false }
    const end = text.close({ count, nextStartKey: taken.nextStartKey }, request.startKey)
    return { part: part + end, isLast: true }
  }
  return { stream: streamOf(start, rest, () => void items.return(undefined).catch(() => {}), deps) }
}

/** Takes items until their text is as long as `minLength`, or no more follow. */
async function takeItems(items: ItemTexts, minLength: number, { yieldWhenDue }: ListReaderDeps) {
  const taken: string[] = []
  let length = 0
  for (;;) {
    await yieldWhenDue()
    const next = await items.next()
    if (next.done === true)
      return { text: taken.join(','), count: taken.length, nextStartKey: next.value, isComplete: true }
    taken.push(...next.value)
    for (const { length: added } of next.value) length += added
    if (length >= minLength) return { text: taken.join(','), count: taken.length, isComplete: false }
  }
}

function streamOf(
  first: string,
  rest: () => Promise<{ readonly part: string; readonly isLast: boolean }>,
  stop: () => void,
  { onFault, onEnd }: ListReaderDeps,
): ResponseStream {
  let start: string | undefined = first
  let isOver = false
  let abort: (() => void) | undefined
  const finish = () => {
    if (isOver) return
    isOver = true
    start = undefined
    stop()
    onEnd?.()
  }
  return {
    async next() {
      if (isOver) return undefined
      if (start !== undefined) {
        const part = start
        start = undefined
        return part
      }
      try {
        const { part, isLast } = await rest()
        if (isOver) return undefined
        if (isLast) finish()
        return part
      } catch (thrown) {
        if (isOver) return undefined
        onFault(thrown)
        finish()
        // A client must not take the list for complete.
        abort?.()
        return undefined
      }
    },
    close: finish,
    onAbort(given) {
      abort = given
    },
  }
}
