import type { DeliveryEvents } from '../delivery/delivery-events.js'
import type { Log } from '../ports.js'
import { toIsoTime } from '../values/iso-time.js'

/** How an event of the dispatcher is logged: level, message, and its fields where they are not the payload itself. */
type LogLine<Payload> = readonly [
  level: keyof Log,
  message: string,
  fieldsOf?: (payload: Payload) => Readonly<Record<string, unknown>>,
]

/** The events that whoever runs the service must see. All others are frequent, and in the records. */
const LINES: { readonly [Name in keyof DeliveryEvents]?: LogLine<DeliveryEvents[Name]> } = {
  webhook_paused: [
    'warn',
    'a webhook was paused: its deliveries wait',
    ({ pausedUntilMs, ...fields }) => ({ ...fields, pausedUntil: toIsoTime(pausedUntilMs) }),
  ],
  webhook_resumed: ['info', 'the pause of a webhook has ended: sending continues'],
  webhook_failing: [
    'warn',
    'a webhook has been failing for a day',
    ({ failingSinceMs, ...fields }) => ({ ...fields, failingSince: toIsoTime(failingSinceMs) }),
  ],
  webhook_disabled: ['warn', 'a webhook was disabled by the service'],
  exhausted: ['warn', 'a delivery was given up: it has no retries left'],
  quarantined: ['error', 'a delivery was quarantined: its attempts may crash the service'],
}

/** Logs an event of the dispatcher, if it needs attention: one line. */
export function logDeliveryEvent<Name extends keyof DeliveryEvents>(
  log: Log,
  name: Name,
  payload: DeliveryEvents[Name],
): void {
  const line = LINES[name]
  if (!line) return
  const [level, message, fieldsOf = (fields: DeliveryEvents[Name]) => ({ ...fields })] = line
  log[level](fieldsOf(payload), message)
}
