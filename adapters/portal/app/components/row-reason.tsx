/** Why a webhook of the list needs attention, in one line. */

import { failureText, t } from '../state/translate.js'
import type { HealthRow } from '../text/health-row.js'
import { dayTimeText, inRoughText, sinceText } from './time.js'

/** Nothing where nothing is wrong. A component, because its times pass. */
export function RowReason({ row, class: className }: { readonly row: HealthRow; readonly class: string }) {
  const reason = reasonOf(row)
  return reason === undefined ? null : <span class={className}>{reason}</span>
}

function reasonOf(row: HealthRow): string | undefined {
  const { state, disable_reason: reason, pause, paused_until: until, last } = row
  if (state === 'disabled') {
    if (reason === undefined) return t('webhooks.offByOwner')
    if (reason !== 'gone') return t('webhooks.offByUs')
    return last?.resp_status_code === '410'
      ? t('webhooks.goneAt', { time: dayTimeText(last.sent_at) })
      : t('webhooks.gone')
  }
  if (state !== 'failing' && state !== 'paused') return undefined
  // A pause that is no failure: the server said how long.
  if (state === 'paused' && pause === undefined && last?.resp_status_code === '429' && until !== undefined)
    return t('webhooks.asked', { time: dayTimeText(until) })
  const next = until === undefined ? '' : t('webhooks.next', { time: inRoughText(until) })
  return `${failureOf(row)} ${next}`.trim()
}

/** What the server does, and since when. */
function failureOf({ last, cause, failing_since: failingSince }: HealthRow): string {
  const since = failingSince === undefined ? '' : sinceText(failingSince)
  const status = last?.result === 'failure' ? last.resp_status_code : undefined
  const text =
    status !== undefined
      ? t('webhooks.answers', { status, since })
      : cause !== undefined
        ? t('webhooks.failsBy', { what: failureText(cause), since })
        : t('webhooks.fails', { since })
  // Without the gap of a time that is not known.
  return text.replaceAll('  ', ' ').replaceAll(' .', '.')
}
