/** Bytes of an event socket → what they say: events to the feed, answers to who asked, the rest to the session. */

import type { Feed } from '../source/feed.js'
import type { Protocol } from '../source/tcp-session.js'
import type { Commands } from './commands.js'
import type { EventFormat, SwitchEvent } from './event.js'
import { frameReader, headerOf } from './frames.js'
import { jsonEvent, jsonName } from './json-event.js'
import type { FreeswitchMapping } from './mapping.js'
import { plainEvent, plainName } from './plain-event.js'

/** What maps events. */
export type EventMapping = Pick<FreeswitchMapping, 'needs' | 'map'>

/** Where what is read goes. */
export interface StreamDoors {
  readonly feed: Feed
  readonly mapping: EventMapping
  readonly commands: Pick<Commands, 'answered'>
  /** The switch asks for the password. */
  readonly onAuthRequest?: () => void
  /** The answer to `connect`: what the switch says of the leg. */
  readonly onLegData?: (event: SwitchEvent) => void
}

/** Reads a stream. What it throws ends the connection. */
export function eventStream(doors: StreamDoors): Pick<Protocol, 'receive'> {
  const { feed, mapping, commands } = doors
  const reader = frameReader((type, head, body) => {
    switch (type) {
      case 'text/event-json':
        return takeEvent(feed, mapping, 'json', body)
      case 'text/event-plain':
        return takeEvent(feed, mapping, 'plain', body)
      case 'command/reply': {
        const event = head.startsWith('Event-Name: ')
          ? plainEvent(Buffer.from(`${head}\n`, 'latin1'))
          : undefined
        if (event) doors.onLegData?.(event)
        return commands.answered(event?.header('Reply-Text') ?? headerOf(head, 'Reply-Text') ?? '')
      }
      case 'api/response':
        return commands.answered(body.toString('utf8'))
      case 'auth/request':
        return doors.onAuthRequest?.()
      case 'text/rude-rejection':
        throw new Error('the switch refuses connections from this address (its acl)')
      case 'text/disconnect-notice':
        // A leg that has ended while we linger: its last events come still.
        if (headerOf(head, 'Content-Disposition') === 'linger') return
        throw new Error(`the switch said goodbye: ${firstLine(body)}`)
    }
  })
  return { receive: (chunk) => reader.push(chunk) }
}

/** One event: most are known by their name to say nothing, and are not read. */
function takeEvent(feed: Feed, mapping: EventMapping, format: EventFormat, body: Buffer): void {
  const name = format === 'json' ? jsonName(body) : plainName(body)
  if (name !== undefined && !mapping.needs(name)) return
  const event = format === 'json' ? jsonEvent(body) : plainEvent(body)
  const message = `a ${format} event of ${body.length} bytes that cannot be read`
  feed.take(event ? mapping.map(event) : { news: [], problems: [{ kind: 'malformed', message }] })
}

function firstLine(body: Buffer): string {
  return (body.toString('utf8', 0, 200).split('\n', 1)[0] ?? '').replace(/[^\x20-\x7e]/g, '?')
}
