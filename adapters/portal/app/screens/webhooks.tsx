/** The webhooks of an account: what needs attention first, and why. */

import { useSignal } from '@preact/signals'
import type { Page as ListPage } from 'hookswitch/client'
import { useMemo, useRef } from 'preact/hooks'
import { accountRequest } from '../api/api.js'
import { loadAttention } from '../api/attention.js'
import { testWebhook } from '../api/test-webhook.js'
import { webhookRows } from '../api/webhook-rows.js'
import { Button, LinkButton } from '../components/button.js'
import { ConfirmButton } from '../components/dialog.js'
import { FilterInput } from '../components/filter-input.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { OutcomeState } from '../components/outcome.js'
import { Page } from '../components/page.js'
import { PagedTable } from '../components/paged-table.js'
import { None, Panel } from '../components/panel.js'
import { Pick } from '../components/pick.js'
import { ReplayFailedButton } from '../components/replay.js'
import { RowReason } from '../components/row-reason.js'
import { Seg } from '../components/seg.js'
import { Sparkline } from '../components/sparkline.js'
import { State } from '../components/state.js'
import { Ago, spanText, zoneLongText } from '../components/time.js'
import type { Column } from '../components/virtual-table.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { isNarrow } from '../state/layout.js'
import { usePagedList } from '../state/paged-list.js'
import { zone } from '../state/preferences.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { canChange } from '../state/scope.js'
import { currentLanguage, number, t } from '../state/translate.js'
import type { HealthRow } from '../text/health-row.js'
import { percent, percentText, sum } from '../text/health-series.js'
import { formatRoute } from '../text/routes.js'
import { troubleFirst, unique } from '../text/trouble-first.js'
import {
  type Count,
  type Counts,
  countsOf,
  shownState,
  totalOf,
  VIEWS,
  type View,
  viewOf,
  waitingOf,
} from '../text/webhook-views.js'

/** Most accounts have none: nothing is in its place before. */
const ReplayJobs = lazy(
  async () => (await import('./replay-jobs.js')).ReplayJobs,
  () => null,
)
const FollowList = lazy(
  async () => (await import('../components/follow-list.js')).FollowList,
  () => null,
)
const FirstScreen = lazy(async () => (await import('./first.js')).FirstScreen)

const REFRESH_MS = 10_000
/** Rows of a page from which webhooks are counted that are not all loaded: the most that the service gives. */
const MAX_COUNTED = 200
const COUNT_REFRESH_MS = 60_000

const idOf = ({ id }: HealthRow) => id

interface WebhooksScreenProps {
  readonly accountId: string
  readonly query: Readonly<Record<string, string>>
}

export function WebhooksScreen({ accountId, query }: WebhooksScreenProps) {
  const { q: text = '', group = '' } = query
  const view = VIEWS.find((name) => name === query.state) ?? ''
  const filter = { text, group }
  const attention = useSignal<ListPage<HealthRow> | undefined>(undefined)
  /** The filter of `attention`, the last view that it was used in, and whether all webhooks were on one page. */
  const usedIn = useRef({ filter: '', view: '', isWhole: false })
  const list = usePagedList<HealthRow>(
    async (startKey, signal) => {
      const loadTrouble = (key?: string) =>
        loadAttention(
          (source, sourceKey) => webhookRows(accountId, { ...filter, ...source }, sourceKey, signal),
          key,
        )
      const loadRows = () => {
        const { state, isByService } = FILTERS[view === 'attention' ? '' : view]
        return webhookRows(
          accountId,
          { ...filter, state, ...(isByService !== undefined && { isByService }) },
          startKey,
          signal,
        )
      }
      if (startKey !== undefined) return view === 'attention' ? loadTrouble(startKey) : loadRows()
      const filterKey = JSON.stringify(filter)
      const keep = (found: ListPage<HealthRow>, isWhole = false) => {
        attention.value = found
        usedIn.current = { filter: filterKey, view, isWhole }
        return found
      }
      const readTrouble = async () => keep(await loadTrouble())
      // What was in trouble a moment ago, in the view before, is requested again at the next refresh.
      const isKnown = usedIn.current.filter === filterKey && usedIn.current.view !== view
      const known = isKnown ? attention.peek() : undefined
      const wasWhole = usedIn.current.isWhole && usedIn.current.filter === filterKey
      usedIn.current = { ...usedIn.current, view }
      if (view === 'attention') return known ?? readTrouble()
      if (view !== '') {
        // Only for the counts: the rows do not wait for it.
        if (!known) readTrouble().catch(() => {})
        return loadRows()
      }
      // The service lists webhooks by name, so those in trouble are requested by state, unless all are on the first page: of
      // those that are found by a text there are few.
      const trouble = known || wasWhole || text !== '' ? undefined : readTrouble()
      trouble?.catch(() => {})
      const first = await loadRows()
      if (first.nextStartKey === undefined) {
        keep({ items: first.items.filter((row) => viewOf(row) === 'attention') }, true)
        return first
      }
      const { items } = known ?? (await (trouble ?? readTrouble()))
      return { ...first, items: unique([...items, ...first.items], idOf) }
    },
    [accountId, view, text, group],
    idOf,
    REFRESH_MS,
    troubleFirst,
  )
  const rows = list.items.value
  // The same columns for each load, so that only rows that have changed are rendered.
  const columns = useMemo(
    () => columnsOf(accountId, list.reload),
    [accountId, currentLanguage(), isNarrow.value, canChange.value],
  )
  const isFiltered = view !== '' || text !== '' || group !== ''
  // Also while it is read again: what is typed on the first screen stays.
  const isWhole = list.isComplete.value && !list.isOutdated
  const isEmpty = rows.length === 0 && isWhole
  const counts = useCounts({
    accountId,
    filter,
    all: view === '' && isWhole ? rows : undefined,
    attention: attention.value,
    isOutdated: list.isOutdated,
  })
  if (isEmpty && !isFiltered && list.error.value === undefined)
    return (
      <Page title={t('webhooks.title')} name="webhooks">
        <FirstScreen accountId={accountId} />
      </Page>
    )
  return (
    <Page
      title={t('webhooks.title')}
      name="webhooks"
      lead={attention.value && <Lead attention={attention.value} counts={counts} />}
      actions={
        canChange.value && (
          <>
            {attention.value && (
              <SwitchOnAgain
                accountId={accountId}
                attention={attention.value}
                isFiltered={text !== '' || group !== ''}
                onDone={list.reload}
              />
            )}
            <ReplayFailedButton accountId={accountId} />
            <LinkButton kind="primary" icon="plus" href={formatRoute({ screen: 'new', accountId })}>
              {t('webhooks.new')}
            </LinkButton>
          </>
        )
      }
    >
      <FollowList accountId={accountId} list={list} />
      <ReplayJobs accountId={accountId} />
      <div class="bar">
        <Seg
          label={t('webhooks.state')}
          value={view}
          onChange={(state) => changeQuery({ state })}
          options={viewOptions(counts, view)}
        />
        <GroupPick rows={rows} group={group} />
        <span class="push">
          <FilterInput
            isImmediate
            label={t('webhooks.search')}
            value={text}
            onChange={(q) => changeQuery({ q })}
          />
        </span>
      </div>
      <div class="hooks">
        <PagedTable
          list={list}
          label={t('webhooks.title')}
          columns={columns}
          idOf={idOf}
          hrefOf={({ id }) => formatRoute({ screen: 'webhook', accountId, id })}
          rowHeight={56}
          cardHeight={118}
          empty={
            <Panel>
              <None icon="find" title={t('webhooks.noneMatch')} />
            </Panel>
          }
        />
      </div>
      {rows.length > 0 && (
        <p class="legal">
          {t(zone.value === 'utc' ? 'webhooks.zoneUtc' : 'webhooks.zone', { zone: zoneLongText() })}{' '}
          {t('webhooks.updated')} <Ago at={list.loadedMs.value} />.
        </p>
      )}
    </Page>
  )
}

/** What the service lists for a view; for `attention` several lists. */
const FILTERS: Readonly<Record<'' | 'ok' | 'idle' | 'off', { state: string; isByService?: boolean }>> = {
  '': { state: '' },
  ok: { state: 'ok' },
  idle: { state: 'idle' },
  off: { state: 'disabled', isByService: false },
}

interface CountsInput {
  readonly accountId: string
  readonly filter: { readonly text: string; readonly group: string }
  /** The rows, where they are all that pass the filter. */
  readonly all: readonly HealthRow[] | undefined
  readonly attention: ListPage<HealthRow> | undefined
  /** Whether these are of another filter, until those of this one arrive. */
  readonly isOutdated: boolean
}

/** How many webhooks each view has. Where not all are loaded, the first ones of each state are counted. */
function useCounts({ accountId, filter, all, attention, isOutdated }: CountsInput): Counts | undefined {
  const key = JSON.stringify([accountId, filter])
  const kept = useRef<{ readonly key: string; readonly counts: Counts } | undefined>(undefined)
  if (all) kept.current = { key, counts: countsOf(all) }
  // What was counted before another view was chosen holds until the number of those in trouble changes.
  const known =
    kept.current?.key === key && (all || kept.current.counts.attention.count === attention?.items.length)
      ? kept.current.counts
      : undefined
  const last = useRef<Counts | undefined>(undefined)
  const countedKey = useRef('')
  // Those of another view of the same filter are counted already.
  const isNeeded =
    attention !== undefined && known === undefined && (!isOutdated || countedKey.current === key)
  const counted = useResource(
    async (signal) => {
      if (!isNeeded) return undefined
      countedKey.current = key
      const count = async (view: 'ok' | 'idle' | 'off') =>
        countOf(
          await webhookRows(
            accountId,
            { ...filter, ...FILTERS[view], pageSize: MAX_COUNTED },
            undefined,
            signal,
          ),
        )
      const [ok, idle, off] = await Promise.all([count('ok'), count('idle'), count('off')])
      return { ok, idle, off }
    },
    [key, isNeeded],
    COUNT_REFRESH_MS,
  )
  if (isOutdated) return last.current
  const others = counted.data.value
  last.current = known ?? (others && attention && { ...others, attention: countOf(attention) })
  return last.current
}

const countOf = ({ items, nextStartKey }: ListPage<HealthRow>): Count => ({
  count: items.length,
  isCapped: nextStartKey !== undefined,
})

const countText = ({ count, isCapped }: Count) => `${number(count)}${isCapped ? '+' : ''}`

/** The choices of the state; one that nothing is in is left out. */
function viewOptions(counts: Counts | undefined, chosen: View | '') {
  const some = VIEWS.filter((view) => view === chosen || (counts && counts[view].count > 0))
  return [
    { value: '' as const, text: t('webhooks.all'), count: counts && countText(totalOf(counts)) },
    ...some.map((view) => ({
      value: view,
      text: t(VIEW_TEXTS[view]),
      count: counts && countText(counts[view]),
    })),
  ]
}

const VIEW_TEXTS = {
  attention: 'webhooks.attention',
  ok: 'webhooks.working',
  idle: 'webhooks.idle',
  off: 'webhooks.off',
} as const

/** What is true now, in a sentence. */
function Lead({ attention, counts }: { attention: ListPage<HealthRow>; counts: Counts | undefined }) {
  const { count, isCapped } = counts?.attention ?? countOf(attention)
  const all = counts && totalOf(counts)
  const waiting = waitingOf(attention.items)
  const more = isCapped ? '+' : ''
  return (
    <>
      {count === 0
        ? t('webhooks.leadNone')
        : all && !all.isCapped
          ? t('webhooks.leadOf', { count, all: all.count })
          : t('webhooks.lead', { count, more })}
      {waiting.count > 0 &&
        ` ${t('webhooks.leadWaiting', {
          count: waiting.count,
          more: waiting.isCapped || isCapped ? '+' : '',
          servers: t('webhooks.servers', { count: waiting.webhooks }),
        })}`}
    </>
  )
}

/** A filter by group, with the groups of all rows that were loaded. */
function GroupPick({ rows, group }: { rows: readonly HealthRow[]; group: string }) {
  const kept = useRef(new Set<string>())
  for (const row of rows) if (row.group !== undefined) kept.current.add(row.group)
  if (group !== '') kept.current.add(group)
  const groups = [...kept.current].sort((a, b) => a.localeCompare(b))
  if (groups.length === 0) return null
  return (
    <Pick
      label={t('webhooks.group')}
      value={group}
      onChange={(value) => changeQuery({ group: value })}
      options={[
        { value: '', text: t('webhooks.groupAll') },
        ...groups.map((value) => ({ value, text: value })),
      ]}
    />
  )
}

interface SwitchOnAgainProps {
  readonly accountId: string
  readonly attention: ListPage<HealthRow>
  /** Whether there may be others that the list leaves out. */
  readonly isFiltered: boolean
  readonly onDone: () => void
}

/** Switches on all webhooks that the service has switched off; of a single one, its row has the button. */
function SwitchOnAgain({ accountId, attention, isFiltered, onDone }: SwitchOnAgainProps) {
  const action = useAction(async () => {
    await accountRequest('PATCH', '/webhooks', { accountId, data: { 're-enable': true } })
    notify(t('webhooks.reenabled'))
    onDone()
  })
  const count = attention.items.filter(({ state }) => state === 'disabled').length
  if (count < 2) return null
  const isWhole = attention.nextStartKey === undefined && !isFiltered
  return (
    <ConfirmButton
      action={action}
      label={isWhole ? t('webhooks.switchOnSome', { count }) : t('webhooks.switchOnAll')}
      text={t('webhooks.switchOnText')}
      verb={t('webhooks.switchOn')}
    />
  )
}

function columnsOf(accountId: string, reload: () => void): readonly Column<HealthRow>[] {
  return [
    {
      label: t('webhooks.columnName'),
      width: '16.5rem',
      class: 'lead',
      cell: ({ name, uri }) => (
        <>
          <Line text={name} />
          <Line text={uri} class="sub cut" />
        </>
      ),
    },
    {
      label: t('webhooks.columnState'),
      width: '22rem',
      class: 'how',
      cell: (row) => (
        <>
          <State state={shownState(row)} pill={viewOf(row) === 'attention'} />
          {!isNarrow.value && hasReason(row) && <RowReason row={row} class="sub cut" />}
        </>
      ),
    },
    {
      label: t('webhooks.columnDay'),
      width: '10rem',
      class: 'full',
      cell: (row) => (
        <>
          {isNarrow.value && hasReason(row) && <RowReason row={row} class="small soft" />}
          {row.spark ? <Sparkline {...row.spark} /> : '–'}
        </>
      ),
    },
    {
      label: t('webhooks.columnOk'),
      width: '5.75rem',
      class: 'num l',
      cardLabel: t('webhooks.columnOk'),
      cell: ({ spark }) => {
        const ok = spark && percent(sum(spark.ok), sum(spark.ok) + sum(spark.failed))
        return ok === undefined ? '–' : percentText(ok, currentLanguage())
      },
    },
    {
      label: t('webhooks.columnWaiting'),
      width: '4.75rem',
      class: 'num l',
      cardLabel: t('webhooks.columnWaiting'),
      cell: ({ pending, pending_capped: isCapped }) =>
        pending === 0 ? <span class="faint">0</span> : countText({ count: pending, isCapped }),
    },
    {
      label: t('webhooks.columnAnswer'),
      width: '10.5rem',
      class: 'l',
      cardLabel: t('webhooks.cardAnswer'),
      cell: (row) => <LastAnswer row={row} />,
    },
    {
      label: t('webhooks.columnAction'),
      width: '8.25rem',
      class: 'act',
      isHeadHidden: true,
      cell: (row) => canChange.value && hasReason(row) && <RowAction {...{ accountId, row, reload }} />,
    },
  ]
}

/** Whether there is something to say and to do about a webhook. Most rows have nothing of it, which scrolls faster. */
const hasReason = ({ state }: HealthRow) => state !== 'ok' && state !== 'idle'

/** The status of the last answer, or that there was none, and when. */
function LastAnswer({ row: { last, cause } }: { readonly row: HealthRow }) {
  if (!last) return <>–</>
  const { resp_status_code: status = '–', sent_at: at } = last
  return (
    <>
      {last.result === 'failure' ? (
        <OutcomeState attempt={{ ...last, ...(cause !== undefined && { cause }) }} />
      ) : (
        status
      )}
      <Ago at={at} class="sub ago" />
    </>
  )
}

interface RowActionProps {
  readonly accountId: string
  readonly row: HealthRow
  readonly reload: () => void
}

/** The next action for a webhook that needs attention. */
function RowAction({ accountId, row, reload }: RowActionProps) {
  const address = { accountId, webhookId: row.id }
  const test = useAction(async () => {
    const { attempt, checkCause } = await testWebhook(address, new AbortController().signal)
    const status = attempt?.resp_status_code
    // The test still waits for its turn: no request was sent.
    if (!attempt && checkCause === undefined) notify(t('case.testWaits'))
    else if (status === undefined) notify(t('webhooks.testedSilent', { name: row.name }), true)
    else {
      const took = spanText(attempt!.duration_ms ?? 0)
      notify(t('webhooks.tested', { name: row.name, status, took }), attempt!.result !== 'success')
    }
    reload()
  })
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { ...address, data: {} })
    notify(t('webhooks.resumed'))
    reload()
  })
  const switchOn = useAction(async () => {
    await accountRequest('PATCH', '/webhooks/{webhook_id}', { ...address, data: { enabled: true } })
    notify(t('webhooks.switchedOn', { name: row.name }))
    reload()
  })
  const state = shownState(row)
  const [action, text, busy] =
    state === 'failing'
      ? [test, t('webhooks.test'), t('webhooks.testing')]
      : state === 'paused'
        ? [resume, t('webhooks.resume'), t('webhooks.resuming')]
        : [switchOn, t('webhooks.switchOn'), t('webhooks.switchingOn')]
  return (
    <Button size="tiny" busy={action.isRunning.value ? busy : undefined} onClick={() => void action.run()}>
      {text}
    </Button>
  )
}
