/** The webhooks of an account with their health: what is failing, and since when. */

import { useSignal } from '@preact/signals'
import { printableLine } from 'hookswitch/adapter'
import { accountRequest } from '../api/api.js'
import { API_URL } from '../api/settings.js'
import { countText, loadTroubles, TROUBLES, type Troubles } from '../api/trouble.js'
import { type HealthRow, webhookRows } from '../api/webhook-rows.js'
import { Chips } from '../components/chips.js'
import { ConfirmButton } from '../components/dialog.js'
import { FilterInput } from '../components/filter-input.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { ActionButton, Empty } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { PagedTable } from '../components/paged-table.js'
import { ReplayFailedButton } from '../components/replay.js'
import { Sparkline } from '../components/sparkline.js'
import { isBroken, State } from '../components/state.js'
import { RelativeTime, Since } from '../components/time.js'
import type { Column } from '../components/virtual-table.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { usePagedList } from '../state/paged-list.js'
import { changeQuery } from '../state/router.js'
import { isReadOnly } from '../state/scope.js'
import { useStreamItems } from '../state/stream-items.js'
import { currentLanguage, number, t, word } from '../state/translate.js'
import { percent, percentText, sum } from '../text/health-series.js'
import { withAttempts } from '../text/live-items.js'
import { formatRoute } from '../text/routes.js'
import { troubleFirst, unique } from '../text/trouble-first.js'

/** Most accounts have none: nothing is in its place before. */
const ReplayJobs = lazy(
  async () => (await import('./replay-jobs.js')).ReplayJobs,
  () => null,
)
const STATES = [...TROUBLES, 'ok', 'idle'] as const
const REFRESH_MS = 10_000
/** While attempts happen all the time. */
const LIVE_REFRESH_MS = 1_000

const idOf = ({ id }: HealthRow) => id

interface WebhooksScreenProps {
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
}

export function WebhooksScreen({ accountId, query }: WebhooksScreenProps) {
  const { state = '', q: text = '' } = query
  const troubles = useSignal<Troubles | undefined>(undefined)
  const list = usePagedList<HealthRow>(
    async (startKey, signal) => {
      const page = webhookRows(accountId, { state, text }, startKey, signal)
      if (startKey !== undefined) return page
      // The service lists webhooks by name, so those in trouble are requested by state.
      const [first, found] = await Promise.all([
        page,
        loadTroubles((trouble) => webhookRows(accountId, { state: trouble, text }, undefined, signal)),
      ])
      troubles.value = found
      if (state !== '') return first
      return {
        ...first,
        items: unique([...found.failing.items, ...found.paused.items, ...first.items], idOf),
      }
    },
    [accountId, state, text],
    idOf,
    REFRESH_MS,
    troubleFirst,
  )
  useStreamItems({ accountId, batchMs: LIVE_REFRESH_MS }, (items) => {
    list.items.value = withAttempts(list.items.peek(), items)
    list.refresh()
  })
  const rows = list.items.value
  const isComplete = list.isComplete.value
  const isFiltered = state !== '' || text !== ''
  const detail = rows.length > 0 && (
    <span class="muted">{`${number(rows.length)}${isComplete ? '' : '+'}`}</span>
  )
  /** Other states are counted only where the whole list is loaded. */
  const countOf = (name: (typeof STATES)[number]) => {
    const found = troubles.value
    if (found && name in found) return countText(found[name as keyof Troubles], number)
    const count = isFiltered || !isComplete ? 0 : rows.filter((row) => row.state === name).length
    return count === 0 ? undefined : number(count)
  }
  const chipLabel = (name: (typeof STATES)[number]) =>
    [word('state', name), countOf(name)].filter(Boolean).join(' ')
  /** The other state in which a webhook gets nothing. */
  const alike = state === 'failing' ? 'paused' : state === 'paused' ? 'failing' : undefined
  const alikeCount = alike && countOf(alike)
  const create = (
    <a class="button primary" href={formatRoute({ screen: 'new', accountId })}>
      {t('webhooks.new')}
    </a>
  )
  return (
    <Page
      title={t('webhooks.title')}
      name="webhooks"
      detail={detail}
      actions={
        !isReadOnly.value && (
          <>
            <ReplayFailedButton accountId={accountId} />
            {create}
          </>
        )
      }
    >
      <ReplayJobs accountId={accountId} />
      <div class="filters">
        <Chips
          label={t('filter.state')}
          value={state}
          onChange={(value) => changeQuery({ state: value })}
          chips={[
            { value: '', label: t('filter.all') },
            ...STATES.map((value) => ({ value: value as string, label: chipLabel(value) })),
          ]}
        />
        <FilterInput
          type="search"
          label={t('webhooks.search')}
          value={text}
          onChange={(q) => changeQuery({ q })}
        />
        {troubles.value && (
          <Reenable accountId={accountId} disabled={troubles.value.disabled} onDone={list.reload} />
        )}
      </div>
      <PagedTable
        list={list}
        label={t('webhooks.title')}
        columns={columns(accountId, list.reload)}
        idOf={idOf}
        hrefOf={({ id }) => formatRoute({ screen: 'webhook', accountId, id })}
        cardHeight={200}
        empty={
          isFiltered ? (
            <Empty text={t('webhooks.noneMatch')}>
              {alike && alikeCount && (
                <a href={formatRoute({ screen: 'webhooks', accountId, query: { ...query, state: alike } })}>
                  {t('webhooks.alike', { state: word('state', alike), count: alikeCount })}
                </a>
              )}
            </Empty>
          ) : (
            <Empty text={t('webhooks.none')} curl={createCommand(accountId)}>
              {isReadOnly.value || create}
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** Enables the webhooks that the service has disabled. */
function Reenable(props: { accountId: string; disabled: Troubles['disabled']; onDone: () => void }) {
  const { accountId, disabled, onDone } = props
  const action = useAction(async () => {
    await accountRequest('PATCH', '/webhooks', { accountId, data: { 're-enable': true } })
    notify(t('webhooks.reenabled'))
    onDone()
  })
  const count = disabled.items.filter(({ disable_reason }) => disable_reason !== undefined).length
  const isWhole = disabled.nextStartKey === undefined
  if ((count === 0 && isWhole) || isReadOnly.value) return null
  const label = isWhole ? t('webhooks.reenable', { count }) : t('webhooks.reenableAll')
  return (
    <ConfirmButton
      action={action}
      label={label}
      text={t('webhooks.reenableText')}
      verb={t('action.enable')}
    />
  )
}

function columns(accountId: string, reload: () => void): readonly Column<HealthRow>[] {
  return [
    {
      label: t('column.name'),
      width: 'minmax(10rem, 1.3fr)',
      cell: ({ name, group }) => (
        <>
          {printableLine(name)}
          {group !== undefined && (
            <span class="muted group">
              <Line text={group} />
            </span>
          )}
        </>
      ),
    },
    { label: t('column.state'), width: '20rem', cell: (row) => <StateCell {...{ accountId, row, reload }} /> },
    {
      label: t('column.url'),
      width: 'minmax(8rem, 1.5fr)',
      isMuted: true,
      cell: ({ uri }) => <Line text={uri} />,
    },
    { label: t('column.day'), width: '7rem', cell: ({ spark }) => (spark ? <Sparkline {...spark} /> : '–') },
    {
      label: t('column.ok'),
      width: '5rem',
      isNumber: true,
      cell: ({ spark }) => {
        const ok = spark && percent(sum(spark.ok), sum(spark.ok) + sum(spark.failed))
        return ok === undefined ? '–' : percentText(ok, currentLanguage())
      },
    },
    {
      label: t('column.pending'),
      width: '5rem',
      isNumber: true,
      cell: ({ pending, pending_capped }) => `${number(pending)}${pending_capped ? '+' : ''}`,
    },
    {
      label: t('column.last'),
      width: '9rem',
      cell: ({ last }) =>
        last ? (
          <>
            {last.resp_status_code ?? word('state', last.result)} <RelativeTime at={last.sent_at} />
          </>
        ) : (
          '–'
        ),
    },
  ]
}

/** The state with what follows from it: since when it fails, when it is probed, why it is disabled. */
function StateCell({ accountId, row, reload }: { accountId: string; row: HealthRow; reload: () => void }) {
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { accountId, webhookId: row.id, data: {} })
    notify(t('webhook.resumed'))
    reload()
  })
  return (
    <>
      <span class="lines-of-state">
        <State state={row.state} />{' '}
        {isBroken(row.state) && row.failing_since !== undefined && <Since at={row.failing_since} />}
        {row.state === 'paused' && row.paused_until !== undefined && (
          <span class="muted">
            {t('webhook.probe')} <RelativeTime at={row.paused_until} />
          </span>
        )}
      </span>
      {row.state === 'paused' && !isReadOnly.value && (
        <ActionButton action={resume} class="small">
          {t('action.resume')}
        </ActionButton>
      )}
      {row.state === 'disabled' && row.disable_reason !== undefined && (
        <span class="muted">
          <Line text={word('disabled', row.disable_reason)} />
        </span>
      )}
    </>
  )
}

const createCommand = (accountId: string) => `curl -X PUT ${API_URL}v1/accounts/${accountId}/webhooks \\
  -H "X-Auth-Token: $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"data":{"name":"Calls","uri":"https://crm.example.com/in","hook":"all"}}'`
