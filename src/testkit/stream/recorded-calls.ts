/** Reads and validates a recorded call stream. */
import type { ChannelEvent, CustomHook } from 'hookswitch'
import { type CheckedEvent, checkEvent } from '../../delivery/event.js'
import { errorCode, HookswitchError } from '../../errors.js'
import { type CatalogueEntry, catalogueOf, isRegisteredHook } from '../../webhooks/catalogue.js'
import { anArray, badOption, checkOptions } from '../check-options.js'
import { type ReplayOptions, type ReplayResult, replayCalls } from './replay.js'

/** One event of a recording. */
export interface RecordedEvent {
  /** Line number, 1, 2, … */
  readonly line: number
  /** When it is replayed: the latest `timestampMs` of the lines up to this one, Unix milliseconds. */
  readonly atMs: number
  /** The event, validated. */
  readonly event: CheckedEvent
}

/** A valid recorded call stream. */
export interface Recording {
  /** Events in the order of their lines, in which they are published. */
  readonly events: readonly RecordedEvent[]
  /** Number of call legs. */
  readonly calls: number
  /** Milliseconds from the first event to the last. */
  readonly lengthMs: number
  /**
   * Publishes the events one at a time, each at its time.
   *
   * @throws `InvalidOption` naming the option; errors of `publish`, with the line added to the message
   */
  replay(options: ReplayOptions): Promise<ReplayResult>
}

/** Options of `recordedCalls`. */
export interface RecordedCallsOptions {
  /** The host's own event kinds, as in the option `hooks` of `createHookswitch`. Default is none. */
  readonly hooks?: readonly CustomHook[] | undefined
}

/**
 * Reads a recorded call stream: each line is one event as `hs.publish` accepts it, in JSON, with its `timestampMs`.
 * Empty lines are skipped.
 *
 * @param source the text, or its lines
 * @throws `InvalidInput` naming line and field, for example `line 3: hook: 'channel_crate' is not a registered
 *   event`; `InvalidOption` for a wrong option or source
 * @example
 * const recording = recordedCalls(await readFile('calls.ndjson', 'utf8'))
 * await recording.replay({ publish: hs.publish, speed: 60 })
 */
export function recordedCalls(
  source: string | Iterable<string>,
  options: RecordedCallsOptions = {},
): Recording {
  checkOptions('recordedCalls', options, { hooks: anArray })
  const catalogue = catalogueOf(options.hooks)
  const events: RecordedEvent[] = []
  let atMs = 0
  let line = 0
  for (const text of linesOf(source)) {
    line += 1
    if (typeof text === 'string' && text.trim() === '') continue
    const event = readLine(text, line, catalogue)
    // An event that was published late, or has the time of a slow clock, follows the previous line at once.
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
  throw badOption('recordedCalls', 'source', 'must be a string or an iterable of lines')
}

function readLine(text: unknown, line: number, catalogue: readonly CatalogueEntry[]): CheckedEvent {
  const invalid = (field: string, message: string) =>
    new HookswitchError('InvalidInput', `line ${line}: ${message}`, { field })
  if (typeof text !== 'string') throw invalid('line', 'is not a string')
  let event: unknown
  try {
    event = JSON.parse(text)
  } catch {
    // The parser's message quotes the line, which may be long and has the host's data.
    throw invalid('line', 'is not JSON')
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw invalid('line', 'is not a JSON object')
  if ((event as ChannelEvent).timestampMs === undefined) {
    throw invalid('timestampMs', 'timestampMs: is required in a recording')
  }
  try {
    return checkEvent(event, 0, (hook) => isRegisteredHook(catalogue, hook))
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidInput') throw thrown
    const { message, field = 'line' } = thrown as HookswitchError
    throw invalid(field, message)
  }
}
