/** One webhook: its health, attempts, deliveries, settings and secret. */
import { useSignal } from '@preact/signals'
import type { Webhook } from 'hookswitch/client'
import { useEffect } from 'preact/hooks'
import { accountRequest, statusOf } from '../api/api.js'
import { hasFeature } from '../api/features.js'
import { webhookRows } from '../api/webhook-rows.js'
import { Confirm } from '../components/dialog.js'
import { FollowWebhook } from '../components/follow-webhook.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { ActionButton, Empty, Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { isBroken, StateBadge } from '../components/state-badge.js'
import { Tabs } from '../components/tabs.js'
import { RelativeTime, Since } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { type Resource, useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { isReadOnly } from '../state/scope.js'
import { t, word } from '../state/translate.js'
import type { LiveItem } from '../text/live-items.js'
import { formatRoute } from '../text/routes.js'

const AttemptsTab = lazy(async () => (await import('./attempts-tab.js')).AttemptsTab)
const DeliveriesTab = lazy(async () => (await import('./deliveries-tab.js')).DeliveriesTab)
const HealthTab = lazy(async () => (await import('./health-tab.js')).HealthTab)
/** Most webhooks have none: nothing is in its place before. */
const ReplayJobs = lazy(
  async () => (await import('./replay-jobs.js')).ReplayJobs,
  () => null,
)
const SecretTab = lazy(async () => (await import('./secret-tab.js')).SecretTab)
const SettingsTab = lazy(async () => (await import('./settings-tab.js')).SettingsTab)

const TABS = ['health', 'attempts', 'deliveries', 'settings', 'secret'] as const

interface WebhookScreenProps {
  readonly accountId: string
  readonly webhookId: string
  readonly tab: string | undefined
  readonly query: Readonly<Record<string, string>>
}

const REFRESH_MS = 10_000

export function WebhookScreen(props: WebhookScreenProps) {
  /** The name of the webhook, if it has been deleted. */
  const deleted = useSignal<string | undefined>(undefined)
  const { accountId, webhookId } = props
  if (deleted.value === undefined)
    return <ExistingWebhook {...props} onDeleted={(name) => (deleted.value = name)} />
  return (
    <Page title={deleted.value} name={`webhook/${webhookId}`}>
      <Empty text={t('webhook.gone')}>
        <a href={formatRoute({ screen: 'webhooks', accountId })}>{t('nav.webhooks')}</a>
      </Empty>
    </Page>
  )
}

type ExistingWebhookProps = WebhookScreenProps & { readonly onDeleted: (name: string) => void }

function ExistingWebhook({ accountId, webhookId, tab, query, onDeleted }: ExistingWebhookProps) {
  const webhook = useResource<Webhook>(
    (signal) => accountRequest('GET', '/webhooks/{webhook_id}', { accountId, webhookId }, signal),
    [accountId, webhookId],
    REFRESH_MS,
  )
  const isReplaying = useSignal(false)
  const current = TABS.find((name) => name === tab) ?? 'health'
  const loaded = webhook.data.value
  const onNews = (items: readonly LiveItem[]) => {
    if (items.some(({ news }) => news === 'deleted')) onDeleted(loaded?.name ?? t('webhook.title'))
    else webhook.reload()
  }
  // Without a stream, or behind a gap of it, the next load tells.
  const deletedName = statusOf(webhook.error.value) === 404 ? loaded?.name : undefined
  useEffect(() => {
    if (deletedName !== undefined) onDeleted(deletedName)
  }, [deletedName])
  return (
    <Page
      title={loaded?.name ?? t('webhook.title')}
      name={`webhook/${webhookId}`}
      detail={loaded && <Condition webhook={loaded} />}
      actions={
        loaded &&
        !isReadOnly.value && (
          <Actions
            {...{ accountId, resource: webhook, webhook: loaded }}
            onReplay={() => {
              isReplaying.value = true
            }}
          />
        )
      }
    >
      {loaded && (
        <p class="muted">
          <Line text={`${loaded.http_verb.toUpperCase()} ${loaded.uri}`} /> · {loaded.hook}
        </p>
      )}
      <ReplayJobs
        {...{ accountId, webhookId }}
        isAsking={isReplaying.value}
        onAsked={() => {
          isReplaying.value = false
        }}
      />
      <Tabs
        label={t('webhook.sections')}
        current={current}
        tabs={TABS.map((name) => ({
          name,
          label: t(`tab.${name}`),
          href: formatRoute({ screen: 'webhook', accountId, id: webhookId, tab: name }),
        }))}
      />
      <Loaded resource={webhook}>
        {() => {
          const common = { accountId, webhookId }
          switch (current) {
            case 'health':
              return <HealthTab {...common} query={query} />
            case 'attempts':
              return <AttemptsTab {...common} query={query} />
            case 'deliveries':
              return <DeliveriesTab {...common} query={query} />
            case 'settings':
              return <SettingsTab {...common} onSaved={webhook.reload} />
            case 'secret':
              return <SecretTab {...common} />
          }
        }}
      </Loaded>
      <FollowWebhook {...{ accountId, webhookId }} onNews={onNews} />
    </Page>
  )
}

function Condition({ webhook: { health, disable_reason } }: { readonly webhook: Webhook }) {
  return (
    <span class="condition">
      <StateBadge state={health.state} />
      {isBroken(health.state) && health.failing_since !== undefined && (
        <span>
          <Since at={health.failing_since} />
        </span>
      )}
      {health.state === 'paused' && health.paused_until !== undefined && (
        <span>
          {t('webhook.probe')} <RelativeTime at={health.paused_until} />
        </span>
      )}
      {health.state === 'disabled' && disable_reason !== undefined && (
        <span>
          <Line text={word('disabled', disable_reason)} />
        </span>
      )}
    </span>
  )
}

const QUESTIONS = {
  disable: { title: 'webhook.disable', text: 'webhook.disableText', action: 'action.disable' },
  delete: { title: 'webhook.delete', text: 'webhook.deleteText', action: 'action.delete' },
} as const

interface ActionsProps {
  readonly accountId: string
  readonly webhook: Webhook
  readonly resource: Resource<Webhook>
  readonly onReplay: () => void
}

function Actions({ accountId, webhook, resource, onReplay }: ActionsProps) {
  const address = { accountId, webhookId: webhook.id }
  const asked = useSignal<keyof typeof QUESTIONS | undefined>(undefined)
  const ask = (what: keyof typeof QUESTIONS) => () => {
    asked.value = what
  }
  const closeQuestion = () => {
    asked.value = undefined
  }
  const resume = useAction(async () => {
    await accountRequest('PUT', '/webhooks/{webhook_id}/resume', { ...address, data: {} })
    notify(t('webhook.resumed'))
    resource.reload()
  })
  const toggle = useAction(async () => {
    const data = { enabled: !webhook.enabled }
    await accountRequest('PATCH', '/webhooks/{webhook_id}', { ...address, data })
    notify(t(webhook.enabled ? 'webhook.disabled' : 'webhook.enabled'))
    resource.reload()
  })
  const test = useAction(async () => {
    const { delivery_id } = await accountRequest<{ readonly delivery_id: string }>(
      'PUT',
      '/webhooks/{webhook_id}/test',
      { ...address, data: {} },
    )
    navigate({ screen: 'delivery', accountId, id: delivery_id })
  })
  const remove = useAction(async () => {
    await accountRequest('DELETE', '/webhooks/{webhook_id}', address)
    notify(t('webhook.deleted'))
    navigate({ screen: 'webhooks', accountId })
  })
  const question = asked.value && QUESTIONS[asked.value]
  const action = asked.value === 'delete' ? remove : toggle
  return (
    <>
      {webhook.health.state === 'paused' && hasFeature('resume') && (
        <ActionButton action={resume} class="primary">
          {t('action.resume')}
        </ActionButton>
      )}
      <ActionButton action={test}>{t('action.test')}</ActionButton>
      <button type="button" onClick={onReplay}>
        {t('action.replayFailed')}
      </button>
      {webhook.enabled ? (
        <button type="button" onClick={ask('disable')}>
          {t('action.disable')}
        </button>
      ) : (
        <ActionButton action={toggle}>{t('action.enable')}</ActionButton>
      )}
      <button type="button" class="danger" onClick={ask('delete')}>
        {t('action.delete')}
      </button>
      {question && (
        <Confirm
          title={t(question.title, { name: webhook.name })}
          text={
            <>
              {t(question.text)} <Waiting {...address} />
            </>
          }
          action={t(question.action)}
          isDangerous
          onConfirm={() => void action.run()}
          onClose={closeQuestion}
        />
      )}
    </>
  )
}

/** How many deliveries would be cancelled. */
function Waiting({ accountId, webhookId }: { readonly accountId: string; readonly webhookId: string }) {
  const rows = useResource(
    (signal) => webhookRows(accountId, { state: '', text: webhookId }, undefined, signal),
    [webhookId],
  )
  const row = rows.data.value?.items.find(({ id }) => id === webhookId)
  if (row?.pending === undefined) return null
  return <strong>{t('webhook.waiting', { count: row.pending, more: row.pending_capped ? '+' : '' })}</strong>
}
