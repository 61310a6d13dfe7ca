/** The settings of a webhook. Only what the form changes is saved, and not over a change that somebody else made meanwhile. */
import { HookswitchClientError, type Webhook } from 'hookswitch/client'
import { call, statusOf } from '../api/api.js'
import { Loaded } from '../components/load-state.js'
import { notify } from '../state/announce.js'
import { useResource } from '../state/resource.js'
import { t } from '../state/translate.js'
import { forgetChanges } from '../state/unsaved.js'
import { changesOf, formValues, type SettingsInput } from '../text/webhook-form.js'
import { WebhookForm } from './webhook-form.js'

const PATH = '/accounts/{account_id}/webhooks/{webhook_id}'

/** The document with its revision. */
interface Revised {
  readonly data: Webhook
  readonly revision?: string | undefined
}

export interface SettingsTabProps {
  readonly accountId: string
  readonly webhookId: string
  readonly onSaved: () => void
}

export function SettingsTab({ accountId, webhookId, onSaved }: SettingsTabProps) {
  const read = (signal?: AbortSignal) =>
    call((client) =>
      client.request<Webhook>({ method: 'GET', path: PATH }, { accountId, webhookId }, signal && { signal }),
    )
  const patch = (data: SettingsInput, revision: string | undefined) =>
    call((client) =>
      client.request(
        { method: 'PATCH', path: PATH, headers: { ifMatch: 'If-Match' } },
        { accountId, webhookId, data, ...(revision === undefined ? {} : { ifMatch: revision }) },
      ),
    )
  // Not refreshed: the form keeps the document that it began with.
  const start = useResource(read, [accountId, webhookId])
  return (
    <Loaded resource={start}>
      {({ data: webhook, revision }) => (
        <WebhookForm
          key={revision ?? ''}
          accountId={accountId}
          initial={formValues(webhook)}
          submitLabel={t('form.save')}
          submitting={t('form.saving')}
          onSubmit={async (settings) => {
            const save = (current: Revised) => {
              const data = changesOf(webhook, current.data, settings)
              if (!data) throw new HookswitchClientError('conflict', t('form.changed'), { status: 400 })
              return patch(data, current.revision)
            }
            try {
              await save({ data: webhook, revision })
            } catch (thrown) {
              if (statusOf(thrown) !== 412) throw thrown
              // Others, or this user beside the form, may have changed something else.
              await save(await read())
            }
            notify(t('form.saved'))
            forgetChanges()
            start.reload()
            onSaved()
          }}
        />
      )}
    </Loaded>
  )
}
