/** One webhook: its health, attempts, deliveries, settings and secret. */
import { useSignal } from '@preact/signals'
import type { Webhook } from 'hookswitch/client'
import { accountRequest } from '../api/api.js'
import { hasFeature } from '../api/features.js'
import { Confirm } from '../components/dialog.js'
import { Line } from '../components/hostile-text.js'
import { lazy } from '../components/lazy.js'
import { ActionButton, Loaded } from '../components/load-state.js'
import { Page } from '../components/page.js'
import { StateBadge } from '../components/state-badge.js'
import { Tabs } from '../components/tabs.js'
import { RelativeTime, Since } from '../components/time.js'
import { useAction } from '../state/action.js'
import { notify } from '../state/announce.js'
import { type Resource, useResource } from '../state/resource.js'
import { navigate } from '../state/router.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { AttemptsTab } from './attempts-tab.js'
import { DeliveriesTab } from './deliveries-tab.js'
import { ReplayDialog } from './replay-dialog.js'

const HealthTab = lazy(async () => (await import('./health-tab.js')).HealthTab)
const SecretTab = lazy(async () => (await import('./secret-tab.js')).SecretTab)
const SettingsTab = lazy(async () => (await import('./settings-tab.js')).SettingsTab)

export const TABS = ['health', 'attempts', 'deliveries', 'settings', 'secret'] as const

export interface WebhookScreenProps {
  readonly accountId: string
  readonly webhookId: string
  readonly tab: string | undefined
  readonly query: Readonly<Record<string, string>>
}

const REFRESH_MS = 10_000

export function WebhookScreen({ accountId, webhookId, tab, query }: WebhookScreenProps) {
  const webhook = useResource<Webhook>(
    (signal) => accountRequest('GET', '/webhooks/{webhook_id}', { accountId, webhookId }, signal),
    [accountId, webhookId],
    REFRESH_MS,
  )
  const isReplaying = useSignal(false)
  const current = TABS.find((name) => name === tab) ?? 'health'
  const loaded = webhook.data.value
  return (
    <Page
      title={loaded?.name ?? t('webhook.title')}
      name={`webhook/${webhookId}`}
      detail={loaded && <Condition webhook={loaded} />}
      actions={
        loaded && (
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
      {isReplaying.value && (
        <ReplayDialog
          {...{ accountId, webhookId }}
          onClose={() => {
            isReplaying.value = false
          }}
        />
      )}
    </Page>
  )
}

function Condition({ webhook: { health, disable_reason } }: { readonly webhook: Webhook }) {
  return (
    <span class="condition">
      <StateBadge state={health.state} />
      {health.state === 'failing' && health.failing_since !== undefined && (
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
          <Line text={disable_reason} />
        </span>
      )}
    </span>
  )
}

interface ActionsProps {
  readonly accountId: string
  readonly webhook: Webhook
  readonly resource: Resource<Webhook>
  readonly onReplay: () => void
}

function Actions({ accountId, webhook, resource, onReplay }: ActionsProps) {
  const address = { accountId, webhookId: webhook.id }
  const isDeleting = useSignal(false)
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
      <ActionButton action={toggle}>{t(webhook.enabled ? 'action.disable' : 'action.enable')}</ActionButton>
      <button
        type="button"
        class="danger"
        onClick={() => {
          isDeleting.value = true
        }}
      >
        {t('action.delete')}
      </button>
      {isDeleting.value && (
        <Confirm
          title={t('webhook.delete', { name: webhook.name })}
          text={t('webhook.deleteText')}
          action={t('action.delete')}
          isDangerous
          onConfirm={() => void remove.run()}
          onClose={() => {
            isDeleting.value = false
          }}
        />
      )}
    </>
  )
}
