import { type ChannelEvent, type CheckedEvent, checkEvent } from '../../delivery/event.js'
import { errorCode, HookswitchError } from '../../errors.js'
import { type Check, invalid } from '../../option-checks.js'
import { type CatalogueEntry, type CustomHook, catalogueOf, isKnownHook } from '../../webhooks/catalogue.js'
import { checkGiven } from '../handler/given-options.js'
import { type Replayed, type ReplayOptions, replayCalls } from './replay.js'

/** One event of a recording. */
export interface RecordedEvent {
  /** Its line, 1, 2, … */
  readonly line: number
  /** When it is replayed: its own time, or that of an earlier line where that is later. Unix milliseconds. */
  readonly atMs: number
  readonly event: CheckedEvent
}

/** A call stream that was read and found well-formed. */
export interface Recording {
  /** In the order of their lines, which is the order of publishing. */
  readonly events: readonly RecordedEvent[]
  /** How many call legs they belong to. */
  readonly calls: number
  /** Milliseconds from the first event to the last. */
  readonly lengthMs: number
  /**
   * Publishes the events one after the other, each at its moment.
   *
   * @throws `InvalidOption`; what `publish` throws, with the line in its message
   */
  replay(options: ReplayOptions): Promise<Replayed>
}

/** Options of `recordedCalls`. */
export interface RecordedCallsOptions {
  /** Kinds of event of the host's own, as `createHookswitch` takes them. */
  readonly hooks?: readonly CustomHook[]
}

const hooks: Check = (field, value) => {
  if (!Array.isArray(value)) throw invalid(field, 'must be a list')
}

/**
 * Reads a recorded call stream: on each line one event, as `hs.publish` takes it, in JSON, with its `timestampMs`.
 * Empty lines are left out.
 *
 * @param source the text, or its lines
 * @throws `InvalidInput` naming line and field, as in `line 3: hook: 'channel_crate' is not in the catalogue`
 * @example
 * const recording = recordedCalls(await readFile('calls.ndjson', 'utf8'))
 * await recording.replay({ publish: hs.publish, speed: 60 })
 */
export function recordedCalls(
  source: string | Iterable<string>,
  options: RecordedCallsOptions = {},
): Recording {
  checkGiven('recordedCalls', options, { hooks })
  const catalogue = catalogueOf(options.hooks)
  const events: RecordedEvent[] = []
  let atMs = 0
  let line = 0
  for (const text of linesOf(source)) {
    line += 1
    if (typeof text === 'string' && text.trim() === '') continue
    const event = readLine(text, line, catalogue)
    // What was published late, or told by a clock a little behind, comes at once after the line above it.
    atMs = Math.max(atMs, event.timestampMs)
    events.push({ line, atMs, event })
  }
  if (events.length === 0)
    throw new HookswitchError('InvalidInput', 'the recording has no event', { field: 'source' })
  return {
    events,
    calls: new Set(events.map(({ event }) => `${event.accountId}/${event.callId}`)).size,
    lengthMs: atMs - events[0]!.atMs,
    replay: (replayOptions) => replayCalls(events, replayOptions),
  }
}

function linesOf(source: string | Iterable<string>): Iterable<string> {
  if (typeof source === 'string') return source.replace(/^\ufeff/, '').split('\n')
  if (typeof source === 'object' && source !== null && Symbol.iterator in source) return source
  throw new HookswitchError('InvalidOption', 'recordedCalls: source must be a text or its lines', {
    field: 'source',
  })
}

function readLine(text: unknown, line: number, catalogue: readonly CatalogueEntry[]): CheckedEvent {
  const wrong = (field: string, message: string) =>
    new HookswitchError('InvalidInput', `line ${line}: ${message}`, { field })
  if (typeof text !== 'string') throw wrong('line', 'is no text')
  let event: unknown
  try {
    event = JSON.parse(text)
  } catch {
    // What the parser says quotes the line, which may be long and is the host's.
    throw wrong('line', 'is no JSON')
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw wrong('line', 'is no JSON object')
  if ((event as ChannelEvent).timestampMs === undefined) {
    throw wrong('timestampMs', 'timestampMs: is required in a recording')
  }
  try {
    return checkEvent(event, 0, (hook) => isKnownHook(catalogue, hook))
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidInput') throw thrown
    const { message, field = 'line' } = thrown as HookswitchError
    throw wrong(field, message)
  }
}
