/**
 * Finds what was missed while disconnected, since FreeSWITCH never repeats an event. Channels that the switch lists and
 * the mapping does not have are opened from their channel data; open legs that the switch no longer has are ended.
 *
 * Events continue to arrive meanwhile, and a reply may overtake older events. So a leg is ended only if it was open
 * before the subscription, the switch reports that it does not exist, and no end event has arrived within a grace
 * period. A leg opened from a reply is the same as one opened by an event, whichever comes first.
 */
import type { Clock } from 'hookswitch'
import type { EventPipeline } from '../source/event-pipeline.js'
import type { CommandChannel } from './commands.js'
import { parseJsonEvent } from './json-event.js'
import type { FreeswitchMapping } from './mapping.js'
import { CHANNEL_DATA } from './subscriptions.js'

/** Dependencies of a resync. */
export interface ResyncDeps {
  readonly pipeline: EventPipeline
  readonly mapping: FreeswitchMapping
  readonly commands: CommandChannel
  readonly clock: Clock
}

/** The open legs at one moment, by id. */
export type Snapshot = ReadonlyMap<string, object>

/** Within this time, an end event that was sent before the reply `false` to `uuid_exists` has arrived. */
const GRACE_MS = 2_000
/** Maximum number of commands without a reply. */
const MAX_PENDING_COMMANDS = 32

/** Returns the legs that are open now. Call it before the subscription. */
export function takeSnapshot(mapping: FreeswitchMapping): Snapshot {
  return new Map(
    mapping.openUuids().flatMap((uuid) => {
      const leg = mapping.getLeg(uuid)
      return leg ? [[uuid, leg] as const] : []
    }),
  )
}

/**
 * Queries the switch and pushes the differences into the pipeline.
 *
 * @param before the legs that were open before the subscription
 * @throws when the connection is lost
 */
export async function resync(deps: ResyncDeps, before: Snapshot, signal: AbortSignal): Promise<void> {
  const { pipeline, mapping, commands, clock } = deps
  const coreUuid = (await commands.send('api global_getvar core_uuid')).trim()
  if (/^[\w-]{1,64}$/.test(coreUuid)) pipeline.push(mapping.endEarlierRuns(coreUuid, clock.now()))

  const listed = parseUuids(await commands.send('api show channels as json'))
  // A switch without its core database lists nothing: then every open leg is checked by `uuid_exists`.
  const unlisted = [...before].filter(([uuid, leg]) => mapping.getLeg(uuid) === leg && !listed.has(uuid))
  await forEachConcurrently(
    [...listed].filter((uuid) => mapping.getLeg(uuid) === undefined && isValidArgument(uuid)),
    (uuid) => openFromDump(deps, uuid),
  )

  const missing: [string, object][] = []
  await forEachConcurrently(unlisted, async ([uuid, leg]) => {
    if (!isValidArgument(uuid)) return
    if ((await commands.send(`api uuid_exists ${uuid}`)).trim() === 'false') missing.push([uuid, leg])
  })
  if (missing.length === 0) return
  const nowMs = clock.now()
  do await clock.sleep(GRACE_MS, signal)
  while (pipeline.isFull() && !signal.aborted)
  if (signal.aborted) return
  for (const [uuid, leg] of missing)
    if (mapping.getLeg(uuid) === leg) pipeline.push(mapping.endMissingLeg(uuid, nowMs))
}

/** Opens a leg from its channel data, if it still exists. */
async function openFromDump({ commands, mapping, pipeline }: ResyncDeps, uuid: string): Promise<void> {
  const reply = await commands.send(`api uuid_dump ${uuid} json`)
  const parsed = parseJson(reply)
  if (typeof parsed !== 'object' || parsed === null) return
  const channelData = { ...parsed, 'Event-Name': CHANNEL_DATA }
  const event = parseJsonEvent(Buffer.from(JSON.stringify(channelData)))
  if (event) pipeline.push(mapping.map(event))
}

function parseUuids(reply: string): Set<string> {
  const list = parseJson(reply) as { readonly rows?: unknown } | undefined
  const rows: readonly unknown[] = Array.isArray(list?.rows) ? list.rows : []
  const uuids = rows.map((row) => (row as { readonly uuid?: unknown } | null)?.uuid)
  return new Set(uuids.filter((uuid): uuid is string => typeof uuid === 'string'))
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Whether an id can be the argument of a command: it may be the far end's Call-ID, which can contain anything. */
function isValidArgument(uuid: string): boolean {
  return /^[\x21-\x7e]+$/.test(uuid)
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values()
  const worker = async () => {
    for (const item of remaining) await work(item)
  }
  await Promise.all(Array.from({ length: MAX_PENDING_COMMANDS }, worker))
}
