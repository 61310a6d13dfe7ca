/** Reads the data of a channel (`uuid_dump`). */
import type { MappedBatch } from '../source/mapped-events.js'
import type { CommandChannel } from './commands.js'
import { type EslEvent, eventFromJson } from './event.js'
import { CHANNEL_DATA } from './subscriptions.js'

/** The switch has no such channel. */
export const MISSING = 'missing'

/**
 * Returns the data of a channel as an event; `undefined`: they cannot be read.
 *
 * @param uuid an id for which `isValidArgument` is true
 * @throws when the connection is lost
 */
export async function readChannelData(
  { send }: Pick<CommandChannel, 'send'>,
  uuid: string,
): Promise<EslEvent | typeof MISSING | undefined> {
  const reply = await send(`api uuid_dump ${uuid} json`)
  if (reply.startsWith('-ERR No such channel')) return MISSING
  const parsed = parseJson(reply)
  if (typeof parsed !== 'object' || parsed === null) return undefined
  return eventFromJson({ ...parsed, 'Event-Name': CHANNEL_DATA })
}

/** The problem of a channel whose data cannot be read. */
export function unreadable(uuid: string): MappedBatch {
  const problem = {
    kind: 'malformed',
    message: 'the data of a channel cannot be read',
    callId: uuid,
  } as const
  return { updates: [], problems: [problem] }
}

/** Parses a reply; `undefined`: it is not JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Whether an id can be the argument of a command: it may be the far end's Call-ID, which can contain anything. */
export function isValidArgument(uuid: string): boolean {
  return /^[\x21-\x7e]+$/.test(uuid)
}
