/**
 * Finds what was missed while disconnected, since FreeSWITCH never repeats an event. The channel data of every leg show
 * what it is now: channels that the mapping does not have are opened, and missed answers, holds and bridges are
 * published. Open legs that the switch no longer has are ended.
 *
 * Events continue to arrive meanwhile, and a reply may overtake older events. So a leg is ended only if it was open
 * before the subscription, the switch reports that it does not exist, and no end event has arrived within a grace
 * period. A leg opened from a reply is the same as one opened by an event, whichever comes first.
 */
import type { Clock } from 'hookswitch'
import type { EventPipeline } from '../source/event-pipeline.js'
import type { Problem } from '../source/mapped-events.js'
import type { FoundBridge } from './bridges.js'
import { isValidArgument, MISSING, parseJson, readChannelData, unreadable } from './channel-data.js'
import type { CommandChannel } from './commands.js'
import type { FreeswitchMapping } from './mapping.js'

/** Dependencies of a resync. */
interface ResyncDeps {
  readonly pipeline: EventPipeline
  readonly mapping: FreeswitchMapping
  readonly commands: CommandChannel
  readonly clock: Clock
}

/** The open legs at one moment, by id. */
type Snapshot = ReadonlyMap<string, object>

/** Within this time, an end event that was sent before the reply `false` to `uuid_exists` has arrived. */
const GRACE_MS = 2_000
/** Maximum number of commands without a reply. */
const MAX_PENDING_COMMANDS = 32
const UNREADABLE_LIST: Problem = {
  kind: 'malformed',
  message: 'the list of channels cannot be read: channels that began meanwhile are missed',
}

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
  // A refusal begins with a minus.
  if (/^\w[\w-]{0,63}$/.test(coreUuid)) pipeline.push(mapping.endEarlierRuns(coreUuid, clock.now()))

  const listed = parseUuids(await commands.send('api show channels as json'))
  if (!listed) pipeline.push({ updates: [], problems: [UNREADABLE_LIST] })
  // A switch without its core database lists nothing: then every open leg is checked by `uuid_exists`.
  const unlisted = [...before].filter(([uuid, leg]) => mapping.getLeg(uuid) === leg && !listed?.has(uuid))
  const existing = new Set(listed)
  const missing: [string, object][] = []
  await forEachConcurrently(unlisted, async ([uuid, leg]) => {
    if (!isValidArgument(uuid)) return
    const reply = (await commands.send(`api uuid_exists ${uuid}`)).trim()
    if (reply === 'false') missing.push([uuid, leg])
    else if (reply === 'true') existing.add(uuid)
  })
  const bridges: FoundBridge[] = []
  await forEachConcurrently([...existing].filter(isValidArgument), async (uuid) => {
    const found = await readChannel(deps, uuid)
    const leg = before.get(uuid)
    if (typeof found === 'object') bridges.push(found)
    else if (found === MISSING && leg) missing.push([uuid, leg])
  })
  pipeline.push(mapping.mapTalks(bridges))
  if (missing.length > 0) await endMissingLegs(deps, missing, signal)
}

/** Ends legs that the switch does not have, unless their end events arrive within the grace period. */
export async function endMissingLegs(
  { pipeline, mapping, clock }: Omit<ResyncDeps, 'commands'>,
  missing: readonly (readonly [uuid: string, leg: object])[],
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.now()
  do await clock.sleep(GRACE_MS, signal)
  while (pipeline.isFull() && !signal.aborted)
  if (signal.aborted) return
  for (const [uuid, leg] of missing)
    if (mapping.getLeg(uuid) === leg) pipeline.push(mapping.endMissingLeg(uuid, nowMs))
}

/** Maps the channel data of a leg, and returns its bridge. A channel that is listed may have ended before. */
async function readChannel(
  { commands, mapping, pipeline }: ResyncDeps,
  uuid: string,
): Promise<FoundBridge | typeof MISSING | undefined> {
  const found = await readChannelData(commands, uuid)
  if (found === MISSING) return MISSING
  pipeline.push(found ? mapping.mapFound(found) : unreadable(uuid))
  return found && mapping.readBridge(found)
}

/** The ids in the list of channels; `undefined`: it is not a list. */
function parseUuids(reply: string): Set<string> | undefined {
  const list = parseJson(reply) as { readonly row_count?: unknown; readonly rows?: unknown } | undefined
  if (!Array.isArray(list?.rows)) return list?.row_count === 0 ? new Set() : undefined
  const uuids = list.rows.map((row) => (row as { readonly uuid?: unknown } | null)?.uuid)
  return new Set(uuids.filter((uuid): uuid is string => typeof uuid === 'string'))
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values()
  const worker = async () => {
    for (const item of remaining) await work(item)
  }
  await Promise.all(Array.from({ length: MAX_PENDING_COMMANDS }, worker))
}
