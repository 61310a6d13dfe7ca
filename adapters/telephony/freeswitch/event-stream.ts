/** Dispatches the messages of an event socket: events to the pipeline, replies to the commands, others to callbacks. */

import type { EventPipeline } from '../source/event-pipeline.js'
import type { SwitchProtocol } from '../source/tcp-session.js'
import type { CommandChannel } from './commands.js'
import { type EslEvent, type EventFormat, parseEvent, peekEventName } from './event.js'
import { createFrameReader, findHeader } from './frames.js'
import type { FreeswitchMapping } from './mapping.js'

/** The part of a mapping that a stream uses. */
type EventMapping = Pick<FreeswitchMapping, 'isHandled' | 'map'>

/** Dependencies of a stream. */
interface EventStreamDeps {
  readonly pipeline: EventPipeline
  readonly mapping: EventMapping
  readonly commands: Pick<CommandChannel, 'onReply'>
  /** Called when the switch requests the password. */
  readonly onAuthRequest?: () => void
  /** Called with the channel data that the switch sends in reply to `connect` (outbound mode). */
  readonly onLegData?: (event: EslEvent) => void
}

/** Reads one connection. An error thrown by `receive` ends it. */
export function createEventStream(deps: EventStreamDeps): Pick<SwitchProtocol, 'receive'> {
  const { pipeline, mapping, commands } = deps
  const reader = createFrameReader((type, head, body) => {
    switch (type) {
      case 'text/event-json':
        return handleEvent(pipeline, mapping, 'json', body)
      case 'text/event-plain':
        return handleEvent(pipeline, mapping, 'plain', body)
      case 'command/reply': {
        const event = head.startsWith('Event-Name: ')
          ? parseEvent('plain', Buffer.from(`${head}\n`, 'latin1'))
          : undefined
        if (event) deps.onLegData?.(event)
        return commands.onReply(event?.header('Reply-Text') ?? findHeader(head, 'Reply-Text') ?? '')
      }
      case 'api/response':
        return commands.onReply(body.toString('utf8'))
      case 'auth/request':
        return deps.onAuthRequest?.()
      case 'text/rude-rejection':
        throw new Error('the switch refuses connections from this address (its acl)')
      case 'text/disconnect-notice':
        // The leg has ended while the connection lingers: its last events are still to come.
        if (findHeader(head, 'Content-Disposition') === 'linger') return
        throw new Error(`the switch disconnected: ${firstLine(body)}`)
    }
  })
  return { receive: (chunk) => reader.push(chunk) }
}

/** Maps one event. Most are ignored by their name, without being parsed. */
function handleEvent(
  pipeline: EventPipeline,
  mapping: EventMapping,
  format: EventFormat,
  body: Buffer,
): void {
  const name = peekEventName(body)
  if (name !== undefined && !mapping.isHandled(name)) return
  const event = parseEvent(format, body)
  if (event) {
    pipeline.push(mapping.map(event))
    return
  }
  const message = `a ${format} event of ${body.length} bytes that cannot be read`
  pipeline.push({ updates: [], problems: [{ kind: 'malformed', message }] })
}

function firstLine(body: Buffer): string {
  return (body.toString('utf8', 0, 200).split('\n', 1)[0] ?? '').replace(/[^\x20-\x7e]/g, '?')
}
