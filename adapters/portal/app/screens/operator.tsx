/** The whole service, for its operators: is the fault ours, and which endpoints hold back deliveries? */
import { useSignal } from '@preact/signals'
import type { Page as ListPage, Overview as OverviewDocument } from 'hookswitch/client'
import { accountRequest, optional, page, request } from '../api/api.js'
import { countText, loadTroubles, TROUBLES, type Trouble } from '../api/trouble.js'
import type { HealthRow } from '../api/webhook-rows.js'
import { Chips } from '../components/chips.js'
import { ConfirmButton } from '../components/dialog.js'
import { Line } from '../components/hostile-text.js'
import { Empty, Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { PagedTable } from '../components/paged-table.js'
import { ReplayFailedButton } from '../components/replay.js'
import { Sparkline } from '../components/sparkline.js'
import { State } from '../components/state.js'
import { RelativeTime, Since } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { usePagedList } from '../state/paged-list.js'
import { useResource } from '../state/resource.js'
import { changeQuery } from '../state/router.js'
import { session } from '../state/session.js'
import { number, t, word } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { duration } from '../text/times.js'
import { ReplayJobs } from './replay-jobs.js'

const REFRESH_MS = 5_000
const PAGE_SIZE = 100
/** A due delivery that waits longer than this is a sign that the service itself is behind. */
const LATE_SECONDS = 30

export function OperatorScreen({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const overview = useResource(
    async (signal) => ({
      document: await optional(request<OverviewDocument>('GET', '/system/overview', {}, signal)),
    }),
    [],
    REFRESH_MS,
  )
  return (
    <Page
      title={t('operator.title')}
      name="operator"
      actions={
        <>
          <ReenableTree />
          <ReplayFailedButton />
        </>
      }
    >
      <ReplayJobs />
      <Loaded resource={overview}>{({ document }) => document && <Overview overview={document} />}</Loaded>
      <Endpoints query={query} />
    </Page>
  )
}

function Overview({ overview }: { readonly overview: OverviewDocument }) {
  const { pending, oldest_due_seconds: oldest, in_flight: inFlight, paused, disabled } = overview
  const { attempts_per_minute: rate = [], nodes, store, version } = overview
  const isLate = oldest > LATE_SECONDS
  return (
    <>
      <dl class="figures">
        <Figure label={t('column.pending')} value={number(pending)} />
        <Figure
          label={t('operator.oldest')}
          value={`${isLate ? '! ' : ''}${duration(oldest * 1_000)}`}
          isBad={isLate}
        />
        <Figure label={t('operator.inFlight')} value={number(inFlight)} />
        <Figure
          label={t('operator.paused')}
          value={t('operator.pausedValue', { waiting: paused.waiting, probing: paused.probing })}
        />
        <Figure
          label={t('operator.disabled')}
          value={`${number(disabled)}${overview.disabled_capped ? '+' : ''}`}
        />
        {rate.length > 0 && (
          <div>
            <dt>{t('operator.rate')}</dt>
            <dd>
              {number(rate.at(-2) ?? rate.at(-1)!)} <Sparkline ok={rate} failed={[]} />
            </dd>
          </div>
        )}
      </dl>
      {nodes.length > 0 && (
        <ul class="nodes">
          {nodes.map(({ node, alive_until, shards, leaving }) => (
            <li key={node}>
              <strong>
                <Line text={node} />
              </strong>{' '}
              {alive_until !== undefined && (
                <span>
                  {t('operator.alive')} <RelativeTime at={alive_until} />
                </span>
              )}{' '}
              {t('operator.shards', { count: shards })}{' '}
              {leaving > 0 && t('operator.leaving', { count: leaving })}
            </li>
          ))}
        </ul>
      )}
      <p class="muted">{`${storeText(store)} · ${version}`}</p>
    </>
  )
}

function storeText({ durable, shared }: OverviewDocument['store']): string {
  if (shared) return t('operator.shared')
  return t(durable ? 'operator.durable' : 'operator.memory')
}

function Figure({ label, value, isBad = false }: { label: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={isBad ? 'bad' : ''}>{value}</dd>
    </div>
  )
}

function endpoints(
  state: string,
  startKey: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<HealthRow>> {
  const parameters = { state, pageSize: PAGE_SIZE, ...(startKey === undefined ? {} : { startKey }) }
  return page('/system/endpoints', parameters, signal)
}

function Endpoints({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const troubles = useResource(
    (signal) => loadTroubles((state) => endpoints(state, undefined, signal)),
    [],
    REFRESH_MS,
  )
  const opened = useSignal<Trouble | undefined>(undefined)
  const found = troubles.data.value
  // Chosen once: the list must not change to another state while somebody reads it.
  if (found && opened.peek() === undefined)
    opened.value = TROUBLES.find((state) => found[state].items.length > 0) ?? 'failing'
  const state = TROUBLES.find((name) => name === query.state) ?? opened.value
  const labelOf = (name: Trouble) =>
    [word('state', name), found && countText(found[name], number)].filter(Boolean).join(' ')
  return (
    <section>
      <h2>{t('operator.endpoints')}</h2>
      <Chips
        label={t('filter.state')}
        value={state ?? ''}
        onChange={(value) => changeQuery({ state: value })}
        chips={TROUBLES.map((value) => ({ value: value as string, label: labelOf(value) }))}
      />
      {state === undefined ? (
        <Loaded resource={troubles}>{() => null}</Loaded>
      ) : (
        <EndpointTable state={state} />
      )}
    </section>
  )
}

function EndpointTable({ state }: { readonly state: Trouble }) {
  const list = usePagedList<HealthRow>(
    (startKey, signal) => endpoints(state, startKey, signal),
    [state],
    ({ id }) => id,
    REFRESH_MS,
  )
  return (
    <PagedTable
      list={list}
      label={t('operator.endpoints')}
      idOf={({ id }) => id}
      hrefOf={({ id, account_id = '' }) => formatRoute({ screen: 'webhook', accountId: account_id, id })}
      cardHeight={150}
      empty={<Empty text={t('operator.none')} />}
      columns={[
        {
          label: t('column.name'),
          width: 'minmax(10rem, 1fr)',
          cell: ({ name }) => <Line text={name} />,
        },
        { label: t('column.state'), width: '10rem', cell: (row) => <State state={row.state} /> },
        { label: t('column.account'), width: '12rem', cell: ({ account_id }) => account_id },
        { label: t('column.url'), width: 'minmax(10rem, 2fr)', cell: ({ uri }) => <Line text={uri} /> },
        {
          label: t('column.pending'),
          width: '6rem',
          cell: ({ pending, pending_capped }) => `${number(pending)}${pending_capped ? '+' : ''}`,
        },
        {
          label: t('state.failing'),
          width: '9rem',
          cell: ({ failing_since }) => (failing_since === undefined ? '–' : <Since at={failing_since} />),
        },
      ]}
    />
  )
}

/** Enables what the service disabled, in the operator's account and all accounts below it. */
function ReenableTree() {
  const action = useAction(async () => {
    await accountRequest('PATCH', '/descendants/webhooks', {
      accountId: session.value!.accountId,
      data: { 're-enable': true },
    })
    notify(t('webhooks.reenabled'))
  })
  return (
    <ConfirmButton
      action={action}
      label={t('operator.reenable')}
      text={t('operator.reenableText')}
      verb={t('action.enable')}
    />
  )
}
