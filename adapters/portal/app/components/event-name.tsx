/** A kind of event in the user's words, with its picture. */

import { kindName } from '../state/kinds.js'
import type { IconName } from '../text/looks.js'
import { Icon } from './icon.js'

const ICONS: Readonly<Record<string, IconName>> = {
  channel_create: 'start',
  channel_answer: 'answer',
  channel_bridge: 'join',
  channel_hold: 'hold',
  channel_unhold: 'answer',
  channel_destroy: 'end',
  channel_transferee: 'send',
  channel_transferor: 'send',
  channel_dtmf: 'key',
  conference_join: 'join',
  conference_leave: 'end',
  device_registered: 'user',
  device_unregistered: 'user',
  sms: 'send',
  recording_started: 'voice',
  recording_ready: 'voice',
  parking: 'hold',
  missed_call: 'missed',
  voicemail_new: 'voice',
  queue_join: 'queue',
  queue_agent_offer: 'queue',
  queue_agent_answer: 'queue',
  queue_agent_no_answer: 'missed',
  queue_agent_complete: 'queue',
  queue_agent_login: 'user',
  queue_agent_logout: 'user',
  queue_agent_pause: 'hold',
  queue_agent_resume: 'user',
  queue_leave: 'queue',
  object: 'user',
  webhook_paused: 'link',
  webhook_failing: 'link',
  webhook_disabled: 'link',
  delivery_exhausted: 'link',
  webhook_backlog_full: 'link',
}

export const eventIcon = (hook: string): IconName => ICONS[hook] ?? 'list'

export function EventName({ hook }: { readonly hook: string }) {
  return (
    <span class="state">
      <Icon name={eventIcon(hook)} />
      {kindName(hook)}
    </span>
  )
}
