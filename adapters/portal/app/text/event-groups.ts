/** The kinds of events in the groups of the form, in the order of a call. Pure. */

/** A kind of event of the catalogue. */
interface EventKind {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** The built-in kinds of each group. Other kinds are those of the host: they are in the group `more`. */
const GROUPS = {
  calls: ['channel_create', 'channel_answer', 'channel_bridge', 'channel_destroy'],
  during: [
    'channel_hold',
    'channel_unhold',
    'channel_transferee',
    'channel_transferor',
    'parking',
    'channel_dtmf',
    'conference_join',
    'conference_leave',
    'recording_started',
    'recording_ready',
  ],
  unanswered: ['missed_call', 'voicemail_new'],
  queues: [
    'queue_join',
    'queue_agent_offer',
    'queue_agent_no_answer',
    'queue_agent_answer',
    'queue_agent_complete',
    'queue_leave',
    'queue_agent_login',
    'queue_agent_logout',
    'queue_agent_pause',
    'queue_agent_resume',
  ],
  accounts: ['device_registered', 'device_unregistered', 'sms', 'object'],
  webhooks: [
    'webhook_paused',
    'webhook_failing',
    'webhook_disabled',
    'delivery_exhausted',
    'webhook_backlog_full',
  ],
} as const

interface EventGroup {
  readonly name: keyof typeof GROUPS | 'more'
  readonly kinds: readonly EventKind[]
}

/** The groups that have a kind of the catalogue. */
export function groupEvents(catalogue: readonly EventKind[]): readonly EventGroup[] {
  const rest = new Map(catalogue.map((kind) => [kind.id, kind]))
  const groups: EventGroup[] = Object.entries(GROUPS).map(([name, ids]) => ({
    name: name as EventGroup['name'],
    kinds: ids.flatMap((id) => {
      const kind = rest.get(id)
      rest.delete(id)
      return kind ? [kind] : []
    }),
  }))
  groups.splice(-2, 0, { name: 'more', kinds: [...rest.values()] })
  return groups.filter(({ kinds }) => kinds.length > 0)
}
