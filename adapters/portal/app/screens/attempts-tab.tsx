/** The attempts of a webhook, newest first, with filters. */
import type { Attempt } from 'hookswitch/client'
import { accountPage } from '../api/api.js'
import { FilterInput } from '../components/filter-input.js'
import { Line } from '../components/hostile-text.js'
import { Empty } from '../components/load-state.js'
import { PagedTable } from '../components/paged-table.js'
import { useReplayOne } from '../components/replay.js'
import { Select } from '../components/select.js'
import { State } from '../components/state.js'
import { ExactTime } from '../components/time.js'
import type { Column } from '../components/virtual-table.js'
import { usePagedList } from '../state/paged-list.js'
import { zone } from '../state/preferences.js'
import { changeQuery } from '../state/router.js'
import { useStreamItems } from '../state/stream-items.js'
import { number, t } from '../state/translate.js'
import { toGregorian } from '../text/gregorian-time.js'
import { outcomeOf } from '../text/outcome.js'
import { formatRoute } from '../text/routes.js'
import { duration, parseInputTime } from '../text/times.js'

import { AttemptPanel } from './attempt-panel.js'

const REFRESH_MS = 5_000
const LIVE_REFRESH_MS = 1_000
const PAGE_SIZE = 100

export interface AttemptsTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
}

export function AttemptsTab({ accountId, webhookId, query }: AttemptsTabProps) {
  const replay = useReplayOne(accountId)
  const { result = '', status = '', hook = '', from = '', to = '' } = query
  const fromMs = parseInputTime(from, zone.value)
  const toMs = parseInputTime(to, zone.value)
  const isEmptyRange = fromMs !== undefined && toMs !== undefined && toMs < fromMs
  const list = usePagedList<Attempt>(
    (startKey, signal) => {
      const filters = {
        ...(result === '' ? {} : { filter_result: result }),
        ...(status === '' ? {} : { filter_resp_status_code: status }),
        ...(hook === '' ? {} : { filter_hook_event: hook }),
      }
      if (isEmptyRange) return Promise.resolve({ items: [] })
      return accountPage<Attempt>(
        '/webhooks/{webhook_id}/attempts',
        {
          accountId,
          webhookId,
          slim: true,
          pageSize: PAGE_SIZE,
          filters,
          ...(fromMs === undefined ? {} : { createdFrom: toGregorian(fromMs) }),
          ...(toMs === undefined ? {} : { createdTo: toGregorian(toMs) }),
          ...(startKey === undefined ? {} : { startKey }),
        },
        signal,
      )
    },
    [accountId, webhookId, result, status, hook, from, to],
    ({ id }) => id,
    REFRESH_MS,
  )
  useStreamItems({ accountId, filters: { webhookId }, batchMs: LIVE_REFRESH_MS }, list.refresh)
  return (
    <>
      <div class="filters">
        <Select
          label={t('filter.result')}
          value={result}
          options={resultOptions()}
          onChange={(value) => changeQuery({ result: value })}
        />
        <FilterInput
          caption={t('filter.status')}
          size={5}
          value={status}
          onChange={(value) => changeQuery({ status: value })}
        />
        <FilterInput
          caption={t('filter.hook')}
          size={16}
          value={hook}
          onChange={(value) => changeQuery({ hook: value })}
        />
        <FilterInput
          caption={t('filter.from')}
          type="datetime-local"
          value={from}
          onChange={(value) => changeQuery({ from: value })}
        />
        <FilterInput
          caption={t('filter.to')}
          type="datetime-local"
          value={to}
          onChange={(value) => changeQuery({ to: value })}
        />
        <span class="muted">{t('list.loaded', { count: list.items.value.length })}</span>
      </div>
      <PagedTable
        list={list}
        label={t('tab.attempts')}
        columns={attemptColumns()}
        idOf={({ id }) => id}
        hrefOf={({ delivery_id }) => formatRoute({ screen: 'delivery', accountId, id: delivery_id })}
        cardHeight={184}
        panel={{
          label: t('attempt.show'),
          content: (attempt) => (
            <AttemptPanel
              accountId={accountId}
              attempt={attempt}
              onReplay={() => replay.ask({ webhookId, deliveryId: attempt.delivery_id })}
            />
          ),
        }}
        empty={<Empty text={t(isEmptyRange ? 'filter.empty' : 'attempts.none')} />}
      />
      {replay.dialog}
    </>
  )
}

export const resultOptions = () =>
  [
    ['', t('filter.all')],
    ['success', t('state.success')],
    ['failure', t('state.failure')],
  ] as const

function attemptColumns(): readonly Column<Attempt>[] {
  return [
    { label: t('column.time'), width: '9rem', cell: ({ sent_at }) => <ExactTime at={sent_at} isClock /> },
    { label: t('column.result'), width: '8rem', cell: ({ result }) => <State state={result} /> },
    { label: t('column.hook'), width: 'minmax(9rem, 1fr)', cell: ({ hook_event }) => hook_event },
    {
      label: t('column.try'),
      width: '4rem',
      cell: ({ attempt }) => (attempt === undefined ? '–' : number(attempt)),
    },
    {
      label: t('column.response'),
      width: 'minmax(7rem, 1fr)',
      cell: (attempt) => <Line text={outcomeOf(attempt)} />,
    },
    {
      label: t('column.duration'),
      width: '6rem',
      isNumber: true,
      cell: ({ duration_ms }) => (duration_ms === undefined ? '–' : duration(duration_ms)),
    },
    {
      label: t('column.call'),
      width: 'minmax(8rem, 1fr)',
      cell: ({ call_id }) => (call_id === undefined ? '–' : <Line text={call_id} />),
    },
    {
      label: t('column.left'),
      width: '6rem',
      isNumber: true,
      cell: ({ retries_left, result }) => (result === 'success' ? '–' : number(retries_left)),
    },
  ]
}
