/** The attempts of an account as they happen. */
import { useSignal } from '@preact/signals'
import type { Attempt } from 'hookswitch/client'
import { useRef } from 'preact/hooks'
import { Line } from '../components/hostile-text.js'
import { Page } from '../components/page.js'
import { Select } from '../components/select.js'
import { State } from '../components/state.js'
import { ExactTime } from '../components/time.js'
import { VirtualTable } from '../components/virtual-table.js'
import { summarize } from '../state/announce.js'
import { useStreamItems } from '../state/stream-items.js'
import { number, t, word } from '../state/translate.js'
import { addItems, type LiveItem } from '../text/live-items.js'
import { outcomeOf } from '../text/outcome.js'
import { formatRoute } from '../text/routes.js'
import { duration } from '../text/times.js'
import { resultOptions } from './attempts-tab.js'

/** Items of one frame of the screen are shown together. */
const BATCH_MS = 100

export function LiveScreen({ accountId }: { readonly accountId: string }) {
  const items = useSignal<readonly LiveItem[]>([])
  const isPaused = useSignal(false)
  const result = useSignal<'' | 'success' | 'failure'>('')
  const unread = useRef({ ok: 0, failed: 0 })
  const filters = result.value === '' ? {} : { result: result.value }
  const state = useStreamItems(
    { accountId, filters, batchMs: BATCH_MS, isPaused: () => isPaused.peek() },
    (added) => {
      items.value = addItems(items.peek(), added)
      for (const { attempt, rate } of added) {
        if (attempt) unread.current[attempt.result === 'success' ? 'ok' : 'failed'] += 1
        unread.current.ok += rate?.ok ?? 0
        unread.current.failed += rate?.failed ?? 0
      }
      if (summarize(t('live.summary', unread.current))) unread.current = { ok: 0, failed: 0 }
    },
  )

  const rows = items.value
  return (
    <Page
      title={t('live.title')}
      name="live"
      detail={<span class="muted">{t(`stream.${state.value}`)}</span>}
      actions={
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => {
            isPaused.value = !isPaused.value
          }}
        >
          {t('live.pause')}
        </button>
      }
    >
      <div class="filters">
        <Select
          label={t('filter.result')}
          value={result.value}
          options={resultOptions()}
          onChange={(value) => {
            items.value = []
            result.value = value
          }}
        />
        <span class="muted">{t('list.loaded', { count: rows.length })}</span>
      </div>
      {rows.length === 0 ? (
        <p class="empty">{t('live.none')}</p>
      ) : (
        <VirtualTable
          label={t('live.title')}
          rows={rows}
          idOf={({ key }) => key}
          hrefOf={(item) =>
            item.attempt
              ? formatRoute({ screen: 'delivery', accountId, id: item.attempt.delivery_id })
              : formatRoute({
                  screen: 'webhook',
                  accountId,
                  ...(item.webhookId ? { id: item.webhookId } : {}),
                })
          }
          cardHeight={150}
          columns={[
            {
              label: t('column.time'),
              width: '9rem',
              cell: ({ atMs }) => <ExactTime at={atMs} isClock />,
            },
            {
              label: t('column.result'),
              width: '9rem',
              cell: ({ attempt, rate, news = '' }) => {
                if (attempt) return <State state={attempt.result} />
                return rate ? t('live.summary', rate) : word('change', news)
              },
            },
            {
              label: t('column.hook'),
              width: 'minmax(9rem, 1fr)',
              cell: ({ attempt }) => attempt?.hook_event ?? '',
            },
            {
              label: t('column.response'),
              width: 'minmax(7rem, 1fr)',
              cell: ({ attempt }) => attempt && <Response attempt={attempt} />,
            },
            {
              label: t('column.url'),
              width: 'minmax(10rem, 2fr)',
              cell: ({ attempt }) => attempt && <Line text={attempt.uri} />,
            },
            {
              label: t('column.call'),
              width: 'minmax(8rem, 1fr)',
              cell: ({ attempt }) => attempt?.call_id !== undefined && <Line text={attempt.call_id} />,
            },
          ]}
        />
      )}
    </Page>
  )
}

function Response({ attempt }: { readonly attempt: Attempt }) {
  const { attempt: tries, duration_ms } = attempt
  return (
    <span>
      <Line text={outcomeOf(attempt)} /> {duration_ms !== undefined && duration(duration_ms)}{' '}
      {tries !== undefined && tries > 1 && (
        <span class="muted">{t('attempt.number', { number: number(tries) })}</span>
      )}
    </span>
  )
}
