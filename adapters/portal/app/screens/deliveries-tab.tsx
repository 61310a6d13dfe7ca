/** The deliveries of a webhook by state: what waits, what was given up. */
import type { Delivery } from 'hookswitch/client'
import { accountPage } from '../api/api.js'
import { Line } from '../components/hostile-text.js'
import { Empty } from '../components/load-state.js'
import { PagedTable } from '../components/paged-table.js'
import { useReplayOne } from '../components/replay.js'
import { ReplayMarks } from '../components/replay-marks.js'
import { Select } from '../components/select.js'
import { State } from '../components/state.js'
import { RelativeTime } from '../components/time.js'
import { usePagedList } from '../state/paged-list.js'
import { changeQuery } from '../state/router.js'
import { explanationText, number, t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'

const STATES = [
  'waiting',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
] as const
const REFRESH_MS = 5_000
const PAGE_SIZE = 100

export interface DeliveriesTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly query: Readonly<Record<string, string>>
}

export function DeliveriesTab({ accountId, webhookId, query }: DeliveriesTabProps) {
  const { state = '' } = query
  const replay = useReplayOne(accountId)
  const list = usePagedList<Delivery>(
    (startKey, signal) =>
      accountPage<Delivery>(
        '/webhooks/{webhook_id}/deliveries',
        {
          accountId,
          webhookId,
          pageSize: PAGE_SIZE,
          ...(state === '' ? {} : { filterState: state }),
          ...(startKey === undefined ? {} : { startKey }),
        },
        signal,
      ),
    [accountId, webhookId, state],
    ({ id }) => id,
    REFRESH_MS,
  )
  return (
    <>
      <div class="filters">
        <Select
          label={t('filter.state')}
          value={state}
          options={[
            ['', t('filter.all')],
            ...STATES.map((name) => [name as string, word('state', name)] as const),
          ]}
          onChange={(value) => changeQuery({ state: value })}
        />
        <span class="muted">{t('list.loaded', { count: list.items.value.length })}</span>
      </div>
      <PagedTable
        list={list}
        label={t('tab.deliveries')}
        idOf={({ id }) => id}
        hrefOf={({ id }) => formatRoute({ screen: 'delivery', accountId, id })}
        cardHeight={200}
        onReplay={({ id }) => replay.ask({ webhookId, deliveryId: id })}
        empty={<Empty text={t('deliveries.none')} />}
        columns={[
          {
            label: t('column.hook'),
            width: 'minmax(9rem, 1fr)',
            cell: ({ hook_event, kind }) => (
              <>
                {hook_event}
                {kind !== 'first' && <span class="muted group">{word('kind', kind)}</span>}
              </>
            ),
          },
          {
            label: t('column.state'),
            width: 'minmax(16rem, 1fr)',
            cell: (row) => (
              <span class="lines-of-state">
                <State state={row.state} /> <ReplayMarks accountId={accountId} delivery={row} />
              </span>
            ),
          },
          {
            label: t('column.attempts'),
            width: '5rem',
            cell: ({ attempts }) => <span class="number">{number(attempts)}</span>,
          },
          {
            label: t('column.accepted'),
            width: '9rem',
            cell: ({ accepted_at }) => <RelativeTime at={accepted_at} />,
          },
          {
            label: t('column.call'),
            width: 'minmax(8rem, 1fr)',
            cell: ({ call_id }) => (call_id === undefined ? '–' : <Line text={call_id} />),
          },
          {
            label: t('column.explain'),
            width: 'minmax(8rem, 2fr)',
            cell: (row) => <Line text={explanationText(row)} />,
          },
        ]}
      />
      {replay.dialog}
    </>
  )
}
