/** Why a webhook of the list needs attention, in one line. */
import type { HealthRow } from '../api/webhook-rows.js'
import { failureText, t } from '../state/translate.js'
import { dayTimeText, sinceText } from './time.js'

/** `undefined`: nothing is wrong. */
export function rowReason(row: HealthRow): string | undefined {
  const { state, disable_reason: reason, pause, paused_until: until, last } = row
  if (state === 'disabled') {
    if (reason === undefined) return t('webhooks.offByOwner')
    if (reason !== 'gone') return t('webhooks.offByUs')
    return last?.resp_status_code === '410'
      ? t('webhooks.goneAt', { time: dayTimeText(last.sent_at) })
      : t('webhooks.gone')
  }
  if (state !== 'failing' && state !== 'paused') return undefined
  const next = until !== undefined && Date.parse(until) > 0 ? dayTimeText(until) : undefined
  // A pause that is no failure: the server said how long.
  if (state === 'paused' && pause === undefined && last?.resp_status_code === '429' && next !== undefined)
    return t('webhooks.asked', { time: next })
  return [failureOf(row), next !== undefined && t('webhooks.next', { time: next })].filter(Boolean).join(' ')
}

/** What the server does, and since when. */
function failureOf({ last, cause, failing_since: failingSince }: HealthRow): string {
  const since = failingSince === undefined ? '' : sinceText(failingSince)
  const status = last?.result === 'failure' ? last.resp_status_code : undefined
  const what = status === undefined ? cause && failureText(cause) : t('webhooks.answers', { status })
  return `${what ?? t('webhooks.fails')} ${since}`.trim().concat('.')
}
