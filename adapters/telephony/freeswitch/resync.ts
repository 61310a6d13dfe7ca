/**
 * Finds what was missed while nobody was connected: FreeSWITCH never repeats an event. Legs that the switch has and we
 * do not are opened with what it tells of them; legs that we have and it does not have ended.
 *
 * Events go on while it asks, and an answer may overtake events that are older. So an end is believed only if the leg
 * was open before the events were subscribed to, the switch says that it does not exist, and no event of its end has
 * come some time later; what is opened by an answer and what by an event are the same, whichever comes first.
 */
import type { Clock } from 'hookswitch'
import type { Feed } from '../source/feed.js'
import type { Commands } from './commands.js'
import { jsonEvent } from './json-event.js'
import type { FreeswitchMapping } from './mapping.js'
import { CHANNEL_DATA } from './needed-events.js'

/** What a resync needs. */
export interface ResyncDoors {
  readonly feed: Feed
  readonly mapping: FreeswitchMapping
  readonly commands: Commands
  readonly clock: Clock
}

/** The legs that were open at some moment. */
export type Snapshot = ReadonlyMap<string, object>

/** An event of a leg's end that was sent before the switch forgot the leg has come by then. */
const GRACE_MS = 2_000
/** So many questions are asked before the first is answered. */
const AT_ONCE = 32

/** The open legs now. To be taken before events are subscribed to. */
export function snapshot(mapping: FreeswitchMapping): Snapshot {
  return new Map(
    mapping.uuids().flatMap((uuid) => {
      const leg = mapping.leg(uuid)
      return leg ? [[uuid, leg] as const] : []
    }),
  )
}

/**
 * Asks and tells the feed.
 *
 * @param before the legs that were open before events were subscribed to
 * @throws when the connection is lost
 */
export async function resync(doors: ResyncDoors, before: Snapshot, signal: AbortSignal): Promise<void> {
  const { feed, mapping, commands, clock } = doors
  const run = (await commands.ask('api global_getvar core_uuid')).trim()
  if (/^[\w-]{1,64}$/.test(run)) feed.take(mapping.restarted(run, clock.now()))

  const listed = uuidsOf(await commands.ask('api show channels as json'))
  // A switch without its database lists nothing: then each leg of ours is asked for.
  const missing = [...before].filter(([uuid, leg]) => mapping.leg(uuid) === leg && !listed.has(uuid))
  await several(
    [...listed].filter((uuid) => mapping.leg(uuid) === undefined && isSayable(uuid)),
    (uuid) => open(doors, uuid),
  )

  const gone: [string, object][] = []
  await several(missing, async ([uuid, leg]) => {
    if (!isSayable(uuid)) return
    if ((await commands.ask(`api uuid_exists ${uuid}`)).trim() === 'false') gone.push([uuid, leg])
  })
  if (gone.length === 0) return
  const nowMs = clock.now()
  do await clock.sleep(GRACE_MS, signal)
  while (feed.isFull() && !signal.aborted)
  if (signal.aborted) return
  for (const [uuid, leg] of gone) if (mapping.leg(uuid) === leg) feed.take(mapping.gone(uuid, nowMs))
}

/** Opens a leg with what the switch tells of it, if it still has it. */
async function open({ commands, mapping, feed }: ResyncDoors, uuid: string): Promise<void> {
  const answer = await commands.ask(`api uuid_dump ${uuid} json`)
  const parsed = parse(answer)
  if (typeof parsed !== 'object' || parsed === null) return
  const shown = { ...parsed, 'Event-Name': CHANNEL_DATA }
  const event = jsonEvent(Buffer.from(JSON.stringify(shown)))
  if (event) feed.take(mapping.map(event))
}

function uuidsOf(answer: string): Set<string> {
  const list = parse(answer) as { readonly rows?: unknown } | undefined
  const rows: readonly unknown[] = Array.isArray(list?.rows) ? list.rows : []
  const uuids = rows.map((row) => (row as { readonly uuid?: unknown } | null)?.uuid)
  return new Set(uuids.filter((uuid): uuid is string => typeof uuid === 'string'))
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Whether a command can name it: an id is what the far end sent as its Call-ID, so that it may be anything. */
function isSayable(uuid: string): boolean {
  return /^[\x21-\x7e]+$/.test(uuid)
}

async function several<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
