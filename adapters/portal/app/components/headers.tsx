/** The headers of a request or an answer: folded, and open where one of them explains something. */
import { t } from '../state/translate.js'
import { retryAfterMs } from '../text/outcome.js'
import { Line } from './hostile-text.js'
import { Icon } from './icon.js'
import { dayTimeText, spanText } from './time.js'

interface HeadersProps {
  readonly headers: Readonly<Record<string, string>>
  /** Status of the answer; absent: the headers of a request. */
  readonly status?: string | undefined
}

export function Headers({ headers, status }: HeadersProps) {
  const entries = Object.entries(headers)
  const notes = new Map(entries.map(([name, value]) => [name, noteOf(name.toLowerCase(), value, status)]))
  const explains = [...notes.values()].some((note) => note !== undefined)
  return (
    <details open={explains} key={String(explains)}>
      <summary class="soft">
        <Icon name="right" />
        {t('attempt.headers', { count: entries.length })}
      </summary>
      <dl class="heads">
        {entries.map(([name, value]) => [
          <dt key={name}>
            <Line text={name} />
          </dt>,
          <dd key={`${name}/value`}>
            <Line text={value} />
            {notes.get(name) !== undefined && <span class="is-warn"> {notes.get(name)}</span>}
          </dd>,
        ])}
      </dl>
    </details>
  )
}

function noteOf(name: string, value: string, status: string | undefined): string | undefined {
  if (status === undefined) return undefined
  if (name === 'location' && status.startsWith('3')) return t('attempt.notFollowed')
  if (name !== 'retry-after') return undefined
  const asked = retryAfterMs(value)
  if (asked === undefined) return undefined
  return 'waitMs' in asked
    ? t('attempt.asksToWait', { span: spanText(asked.waitMs) })
    : t('attempt.asksToWaitUntil', { time: dayTimeText(asked.untilMs) })
}
